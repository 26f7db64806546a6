package storebench.reader;

import java.io.IOException;
import java.util.Arrays;

/** A library that gives one row after the other. */
interface RowReader extends TableReader {
    /**
     * Hands each row to `sink`: its values in the order of `fields`, null where there is none. The array is used again for
     * the next row. Throws MismatchException for a table that does not have just these fields.
     */
    void scan(String[] fields, RowSink sink) throws IOException;

    @Override
    default Checksum checksum(Field[] fields) throws IOException {
        Checksum checksum = new Checksum(fields);
        scan(Arrays.stream(fields).map(Field::name).toArray(String[]::new), checksum::add);
        return checksum;
    }

    interface RowSink {
        void accept(Object[] values);
    }
}
