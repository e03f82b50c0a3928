//! Numbers for people.

/// A number in six significant digits, as C's `%g` prints it: `-0.0996094`, `65504`, `3.40282e38`.
#[must_use]
pub fn rounded(value: f64) -> String {
    let text = format!("{value:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent.parse::<i32>() {
        Ok(exponent @ -5..=5) => {
            let decimals = usize::try_from(5 - exponent).unwrap_or(0);
            trimmed(&format!("{value:.decimals$}"))
        }
        Ok(_) | Err(_) => format!("{}e{exponent}", trimmed(digits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Python prints them by `format(x, "g")`, without its padding of exponents.
    #[test]
    fn plain_numbers() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-0.099609375, "-0.0996094"),
            (0.5, "0.5"),
            (65504.0, "65504"),
            (123456.0, "123456"),
            (999999.5, "1e6"),
            (1234567.0, "1.23457e6"),
            (f64::from(f32::MAX), "3.40282e38"),
            (-1e-5, "-0.00001"),
            (1.5e-7, "1.5e-7"),
            (9.999999e-6, "0.00001"),
            (5e-324, "4.94066e-324"),
        ] {
            assert_eq!(rounded(value), text);
        }
    }
}
