//! Where a Parquet file has NaN and infinity, by SQL.
//!
//! `cargo run --example parquet -- FILE SQL` runs SQL on the table `file`. Without arguments a
//! sample is written and checked.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::print_batches;
use datafusion::error::Result;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

#[tokio::main]
async fn main() -> Result<()> {
    let mut context = SessionContext::new();
    nonfinite_datafusion::register(&mut context)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [file, sql] = &arguments[..] {
        context.register_parquet("file", file, ParquetReadOptions::default()).await?;
        return context.sql(sql).await?.show().await;
    }

    let folder = std::env::temp_dir().join(format!("nonfinite-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("sample.parquet");
    let name = file.to_str().expect("a folder for temporary files with a plain name");
    let sample = "VALUES ('a', 0.5::double), ('a', 'NaN'::double), ('b', NULL), \
                  ('b', 'Infinity'::double), ('b', 2.0::double), ('c', NULL)";
    let write = format!(
        "COPY (SELECT column1 AS sensor, column2 AS value FROM ({sample})) TO '{name}' \
         STORED AS PARQUET OPTIONS ('format.compression' 'uncompressed')"
    );
    context.sql(&write).await?.collect().await?;
    context.register_parquet("file", name, ParquetReadOptions::default()).await?;
    let answer = context
        .sql(
            "SELECT sensor, nan_count(value) AS nan, float_stats(value) AS stats \
             FROM file GROUP BY sensor ORDER BY sensor",
        )
        .await?
        .collect()
        .await?;
    print_batches(&answer)?;
    let nan: Vec<i64> = answer
        .iter()
        .flat_map(|batch| batch.column(1).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(nan, [1, 0, 0]);
    let usable = context.sql("SELECT sensor, value FROM file WHERE is_finite(value)").await?;
    assert_eq!(usable.count().await?, 2);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
