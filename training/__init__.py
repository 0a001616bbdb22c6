"""How the embedded judge is made: reading data, making examples, training, calibration, export, evaluation."""
