package storebench.reader;

import io.delta.kernel.Scan;
import io.delta.kernel.Snapshot;
import io.delta.kernel.Table;
import io.delta.kernel.data.ColumnarBatch;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.defaults.engine.DefaultEngine;
import io.delta.kernel.engine.Engine;
import io.delta.kernel.engine.FileReadResult;
import io.delta.kernel.internal.InternalScanFileUtils;
import io.delta.kernel.internal.data.ScanStateRow;
import io.delta.kernel.internal.util.Utils;
import io.delta.kernel.types.StructType;
import io.delta.kernel.utils.CloseableIterator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/** A planned scan of a table's newest snapshot: its columns, and its files, which may be read in any order. */
final class KernelScan {
    private final Engine engine;
    private final Row state;
    private final StructType schema;
    private final List<Row> files = new ArrayList<>();

    KernelScan(Configuration settings, String table) throws IOException {
        this(settings, table, Integer.MAX_VALUE);
    }

    /** Plans a scan of the table's first `width` columns. */
    KernelScan(Configuration settings, String table, int width) throws IOException {
        engine = DefaultEngine.create(settings);
        Snapshot snapshot = Table.forPath(engine, table).getLatestSnapshot(engine);
        StructType all = snapshot.getSchema();
        schema = new StructType(all.fields().subList(0, Math.min(width, all.length())));
        Scan scan = snapshot.getScanBuilder().withReadSchema(schema).build();
        state = scan.getScanState(engine);
        try (CloseableIterator<FilteredColumnarBatch> batches = scan.getScanFiles(engine)) {
            while (batches.hasNext()) {
                try (CloseableIterator<Row> rows = batches.next().getRows()) {
                    rows.forEachRemaining(files::add);
                }
            }
        }
    }

    StructType schema() {
        return schema;
    }

    List<Row> files() {
        return files;
    }

    /** Returns the batches of one file. Several threads may call the method. */
    CloseableIterator<FilteredColumnarBatch> batches(Row file) throws IOException {
        CloseableIterator<ColumnarBatch> physical =
                engine.getParquetHandler()
                        .readParquetFiles(
                                Utils.singletonCloseableIterator(InternalScanFileUtils.getAddFileStatus(file)),
                                ScanStateRow.getPhysicalDataReadSchema(state),
                                Optional.empty())
                        .map(FileReadResult::getData);
        return Scan.transformPhysicalData(engine, state, file, physical);
    }
}
