package storebench.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/**
 * Reads a Delta table for another process: each line on stdin is a command, a JSON object, and each line on stdout is an answer.
 *
 * <p>Commands: `open` (reader, client, table, settings of Hadoop), then any of `read`, `count` and `checksum` (fields).
 * The program ends with its stdin. Each answer has the `seconds` that the command took. A failure is `{"error", "kind"}`, where
 * the kind is `unreachable`, `mismatch` (the table does not hold the dataset) or `refused` (any other failure).
 */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Configuration settings;
    private String table;
    private TableReader reader;

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // libraries must not print to the stream of answers
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Main main = new Main();
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(JSON.writeValueAsString(main.answer(line)));
        }
    }

    private Map<String, Object> answer(String line) {
        try {
            JsonNode command = JSON.readTree(line);
            long began = System.nanoTime();
            Map<String, Object> answer = new LinkedHashMap<>(run(command));
            answer.put("seconds", (System.nanoTime() - began) / 1e9);
            return answer;
        } catch (Exception | LinkageError | OutOfMemoryError error) {
            return Failure.describe(error);
        }
    }

    private Map<String, Object> run(JsonNode command) throws IOException {
        return switch (command.path("command").asText()) {
            case "open" -> open(command);
            case "read" -> Map.of("rows", reader.read());
            case "count" -> Map.of("rows", KernelReader.count(settings, table));
            case "checksum" -> checksum(command.path("fields"));
            default -> throw new IllegalArgumentException("unknown command");
        };
    }

    private Map<String, Object> open(JsonNode command) throws IOException {
        settings = new Configuration();
        command.path("settings").fields()
                .forEachRemaining(entry -> settings.set(entry.getKey(), entry.getValue().asText()));
        table = command.path("table").asText();
        reader =
                switch (command.path("reader").asText() + " " + command.path("client").asText()) {
                    case "delta-standalone reference" -> new StandaloneReader(settings, table);
                    case "delta-kernel reference" -> new KernelReader(settings, table);
                    case "delta-kernel tuned" -> new KernelBatchReader(settings, table);
                    default -> throw new IllegalArgumentException("unknown reader or client");
                };
        Path log = new Path(table, "_delta_log");
        FileSystem.get(log.toUri(), settings).listStatus(log); // the client is cached, and serves the reads
        // Without heap and processors: they follow from the pod's size, which is recorded as a parameter.
        Map<String, Object> versions =
                Map.of("java", Runtime.version().toString(), "hadoop", VersionInfo.getVersion());
        return Map.of(
                "name", reader.name(),
                "version", reader.version(),
                "settings", versions,
                "client_settings", reader.clientSettings());
    }

    private Map<String, Object> checksum(JsonNode wanted) throws IOException {
        Field[] fields =
                StreamSupport.stream(wanted.spliterator(), false)
                        .map(field -> new Field(
                                field.path("name").asText(), field.path("type").asText(), field.path("scale").asInt()))
                        .toArray(Field[]::new);
        Checksum checksum = reader.checksum(fields);
        return Map.of(
                "rows", checksum.rows(),
                "fields", Arrays.stream(checksum.sums()).mapToObj(Long::toHexString).toArray(),
                "row_sum", Long.toHexString(checksum.rowSum()));
    }
}
