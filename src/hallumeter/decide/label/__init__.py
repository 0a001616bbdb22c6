"""`hallumeter label`: asks for the labels that say most about a run."""
