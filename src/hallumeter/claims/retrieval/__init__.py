"""Evidence looked up in a folder of documents."""
