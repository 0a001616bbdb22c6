"""Where the claims of a response are found."""
