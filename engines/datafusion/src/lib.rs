//! Is it NaN, infinite, finite? SQL functions for DataFusion, registered by one call.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! let mut context = SessionContext::new();
//! nonfinite_datafusion::register(&mut context)?;
//! let rows = context
//!     .sql("SELECT nan_count(x) AS nan FROM (VALUES (1.0::double), ('NaN'::double), (NULL)) t(x)")
//!     .await?
//!     .collect()
//!     .await?;
//! let shown = datafusion::arrow::util::pretty::pretty_format_batches(&rows)?.to_string();
//! assert!(shown.contains("| 1   |"), "{shown}");
//! # Ok(())
//! # }
//! ```
//!
//! | function | result |
//! |---|---|
//! | `is_nan(x)`, `is_inf(x)`, `is_finite(x)` | a boolean; null where `x` is null |
//! | `nan_count(x)` | how many values are NaN |
//! | `float_stats(x)` | a struct: counts and the range |
//!
//! The struct has the counts `count`, `finite`, `nan`, `pos_inf`, `neg_inf`, `zeros` and
//! `subnormals`, and the range `min`, `max` and `max_abs` (the maximum magnitude). Counts are of
//! type BIGINT and never null. Nulls count as nothing, also in `count`. The range is of type DOUBLE
//! and that of the finite values, and null if there is none. A number is subnormal if it is so in
//! the type of the column.
//!
//! DataFusion's own `isnan` stays as it is; its name has no underscore.
//!
//! Arguments are REAL, DOUBLE or 16-bit floats, and dictionaries and run-end encoded columns of
//! these. Other types are an error of the plan: cast numbers, and unnest lists. `DISTINCT` is an
//! error, except where DataFusion itself removes repeated values before (one argument in a query).
//!
//! Both aggregates have partial states that can be merged, so they run with `GROUP BY`, `FILTER`,
//! as window functions, in several partitions, and in engines that distribute DataFusion's plans.

mod counts;
mod function;
mod groups;
mod range;
mod scalar;
mod total;

use std::sync::Arc;

use arrow_array::{Array, new_empty_array};
use arrow_schema::DataType;
use datafusion_common::{Result, plan_err};
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::{AggregateUDF, ScalarUDF};
use nonfinite_arrow::Predicate;
use nonfinite_arrow::arrow_59::Column;

/// Registers all functions, for example with a `SessionContext`. A function that has one of their
/// names is replaced.
///
/// # Errors
/// Those of the registry.
pub fn register(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in scalar_functions() {
        registry.register_udf(Arc::new(function))?;
    }
    for function in aggregate_functions() {
        registry.register_udaf(Arc::new(function))?;
    }
    Ok(())
}

/// `is_nan`, `is_inf`, `is_finite`.
#[must_use]
pub fn scalar_functions() -> Vec<ScalarUDF> {
    scalar::all().map(ScalarUDF::from).into()
}

/// `nan_count`, `float_stats`.
#[must_use]
pub fn aggregate_functions() -> Vec<AggregateUDF> {
    counts::all().map(AggregateUDF::from).into()
}

/// The column of an array with one number a row; none if its type is that of the literal NULL.
fn column<'a>(function: &str, array: &'a dyn Array) -> Result<Option<Column<'a>>> {
    if array.data_type() == &DataType::Null {
        return Ok(None);
    }
    let column = match Column::new(array) {
        Ok(column) => column,
        Err(error) => return plan_err!("{function}: {error}"),
    };
    // Of a list, say.
    if column.mask(Predicate::Never).is_err() {
        return plan_err!("{function}: {} has several values a row: unnest it", array.data_type());
    }
    Ok(Some(column))
}

/// Refuses arguments of other types than [`column`] takes.
fn check(function: &str, types: &[DataType]) -> Result<()> {
    match types {
        [one] => column(function, &new_empty_array(one)).map(|_| ()),
        _ => plan_err!("{function} has one argument, not {}", types.len()),
    }
}
