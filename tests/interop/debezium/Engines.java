import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import io.debezium.engine.spi.OffsetCommitPolicy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;

/**
 * Runs Debezium's embedded engines as its standard input says, any number of them at a time in one virtual machine:
 *
 *   start NAME PROPERTIES EVENTS LIMIT   an engine with the properties of a file; its events become lines of the file EVENTS
 *   stop NAME                            ends it, with its offsets stored
 *
 * LIMIT is after how many events the engine breaks off, in the middle of whatever it read, with the offset of the last of them
 * stored; 0 for never. Answers with "ended NAME MESSAGE" when an engine has ended, whoever ended it.
 */
public class Engines {
    private static final PrintStream ANSWERS = System.out;

    private static final class Running {
        DebeziumEngine<ChangeEvent<String, String>> engine;
        final CountDownLatch ended = new CountDownLatch(1);
    }

    /** What breaks off an engine. */
    private static final class Limit extends RuntimeException {
        private static final long serialVersionUID = 1;

        Limit() {
            super("limit reached");
        }
    }

    private static String line(ChangeEvent<String, String> event) {
        return "{\"topic\":\"" + event.destination() + "\",\"key\":" + event.key() + ",\"value\":" + event.value() + "}";
    }

    private static void handle(List<ChangeEvent<String, String>> events, DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer,
                               PrintWriter out, int[] left) throws InterruptedException {
        for (ChangeEvent<String, String> event : events) {
            out.println(line(event));
            committer.markProcessed(event);
            if (--left[0] == 0) {
                break;
            }
        }
        out.flush();
        committer.markBatchFinished();
        if (left[0] == 0) {
            throw new Limit();
        }
    }

    private static Running start(String name, String propertiesFile, String eventsFile, int limit) throws Exception {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(propertiesFile), StandardCharsets.UTF_8)) {
            properties.load(reader);
        }
        PrintWriter out = new PrintWriter(Files.newBufferedWriter(Path.of(eventsFile), StandardCharsets.UTF_8));
        int[] left = {limit > 0 ? limit : -1};
        Running running = new Running();
        running.engine = DebeziumEngine.create(Json.class).using(properties).using(OffsetCommitPolicy.always())
            .using((DebeziumEngine.CompletionCallback) (success, message, error) -> {
                out.close();
                synchronized (ANSWERS) {
                    ANSWERS.println("ended " + name + " " + (success ? "well" : String.valueOf(message).replace('\n', ' ') + ": " + causes(error)));
                    ANSWERS.flush();
                }
                running.ended.countDown();
            })
            .notifying((events, committer) -> handle(events, committer, out, left)).build();
        Thread thread = new Thread(running.engine, name);
        thread.setDaemon(true);
        thread.start();
        return running;
    }

    private static String causes(Throwable error) {
        StringBuilder all = new StringBuilder();
        for (; error != null; error = error.getCause()) {
            all.append(String.valueOf(error).replace('\n', ' ')).append(" <- ");
        }
        return all.toString();
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Running> engines = new HashMap<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            String[] words = command.split(" ");
            if (words[0].equals("start")) {
                engines.put(words[1], start(words[1], words[2], words[3], Integer.parseInt(words[4])));
            } else {
                Running running = engines.remove(words[1]);
                try {
                    running.engine.close();
                } catch (IllegalStateException alreadyEnded) {
                    // close() throws when the engine has ended by itself: what it had to say has been said
                }
                running.ended.await();
            }
        }
        System.exit(0);
    }
}
