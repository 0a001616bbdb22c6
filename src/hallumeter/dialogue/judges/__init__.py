"""What an answer invents, risks, uses, contradicts or leaves out."""
