"""What benches/report is made of."""
