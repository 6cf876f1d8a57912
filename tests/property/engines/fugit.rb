# Reads lines of `ENGINE \t EXPRESSION \t ZONE \t START` and prints the next twelve times of each, or `!` and why there are none.
require 'fugit'
STDIN.each_line do |line|
  _, text, zone, start = line.chomp.split("\t")
  cron, at, times = Fugit.parse_cron("#{text} #{zone}"), EtOrbi::EoTime.parse(start), []
  begin
    12.times { times << (at = cron.next_time(at)).utc.strftime('%Y-%m-%dT%H:%M:%SZ') }
    puts times.join(' ')
  rescue StandardError => error
    puts "! #{error.class}"
  end
end
