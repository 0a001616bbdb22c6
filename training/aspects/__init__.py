"""How the weights of the English reader of aspects are made."""
