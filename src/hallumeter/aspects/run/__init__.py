"""`hallumeter aspects run`: agents read sentences, and every answer is kept."""
