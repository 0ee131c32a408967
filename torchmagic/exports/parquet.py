"""This file exports to Parquet: the rows of the CSV export with their types, small and exact."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import encodable
from torchmagic.exports.packages import needed
from torchmagic.exports.points import Curve, curves
from torchmagic.session.document import FORMAT, header
from torchmagic.session.run import Run


def write(runs: Sequence[Run], path: Path) -> None:
    """Write one row a value; what is known of each run beside its values stands in the file's metadata.

    The metadata has, under ``torchmagic``, a JSON object with ``format`` and ``runs``: the headers of the JSON export.
    """
    arrow, parquet = needed("pyarrow", extra="parquet"), needed("pyarrow.parquet", extra="parquet")
    about = json.dumps({"format": FORMAT, "runs": [header(run) for run in runs]})
    schema = _schema(arrow).with_metadata({"torchmagic": about})
    with parquet.ParquetWriter(path, schema) as writer:
        for run in runs:
            parts = [_columns(arrow, schema, run, curve) for curve in curves(run)]
            if parts:
                writer.write_table(arrow.concat_tables(parts))


def _schema(arrow: Any) -> Any:
    names = {name: arrow.string() for name in ("run_id", "run", "metric", "subject")}
    return arrow.schema({**names, "step": arrow.int64(), "value": arrow.float64()})


def _columns(arrow: Any, schema: Any, run: Run, curve: Curve) -> Any:
    words = [encodable(word) for word in (run.id, run.name, curve.metric, curve.subject)]
    repeated = [arrow.repeat(arrow.scalar(word, arrow.string()), len(curve.steps)) for word in words]
    return arrow.table([*repeated, curve.steps, curve.values], schema=schema)


EXPORTER = Exporter(name="parquet", what="one row a value, for data frames", write=write, suffixes=(".parquet", ".pq"))
