"""`hallumeter dialogue lint`: mistakes in the settings of the clinical judges."""
