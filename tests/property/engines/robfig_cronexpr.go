// Reads lines of `ENGINE \t EXPRESSION \t ZONE \t START` and prints the next twelve times of each, or `!` and why there are none.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gorhill/cronexpr"
	"github.com/robfig/cron"
)

type schedule interface{ Next(time.Time) time.Time }

func parsed(engine, text string) (schedule, error) {
	if engine == "robfig" {
		return cron.ParseStandard(text)
	}
	return cronexpr.Parse(text)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), "\t")
		given, err := parsed(words[0], words[1])
		if err != nil {
			fmt.Println("!", err)
			continue
		}
		zone, _ := time.LoadLocation(words[2])
		at, _ := time.Parse(time.RFC3339, words[3])
		times := []string{}
		for at = given.Next(at.In(zone)); !at.IsZero() && len(times) < 12; at = given.Next(at) {
			times = append(times, at.UTC().Format(time.RFC3339))
		}
		fmt.Println(strings.Join(times, " "))
	}
}
