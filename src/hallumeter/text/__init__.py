from .normalize import claim_key
