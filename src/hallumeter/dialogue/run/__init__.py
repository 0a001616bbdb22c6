"""`hallumeter dialogue run`: systems are asked, and their answers become events."""
