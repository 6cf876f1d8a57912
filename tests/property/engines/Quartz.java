import java.time.Instant;
import java.util.Date;
import java.util.Scanner;
import java.util.StringJoiner;
import java.util.TimeZone;
import org.quartz.CronExpression;

/** Reads lines of `ENGINE \t EXPRESSION \t ZONE \t START` and prints the next twelve times of each, or `!` and why there are none. */
class Quartz {
    public static void main(String[] arguments) {
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
            String[] words = lines.nextLine().split("\t");
            try {
                CronExpression cron = new CronExpression(words[1]);
                cron.setTimeZone(TimeZone.getTimeZone(words[2]));
                StringJoiner times = new StringJoiner(" ");
                Date at = cron.getNextValidTimeAfter(Date.from(Instant.parse(words[3])));
                for (int count = 0; at != null && count < 12; count++, at = cron.getNextValidTimeAfter(at)) {
                    times.add(at.toInstant().toString());
                }
                System.out.println(times);
            } catch (Exception error) {
                System.out.println("! " + error.getMessage());
            }
        }
    }
}
