// Asks the board for its picture again and again, and for stories when somebody clicks.

const RETRY = 5000, SLOWEST = 60000;

// `take` is given each new document; `fail` what went wrong, or an empty text once all is well.
export function poll(take, fail) {
  let tag = "", wait = RETRY, timer = 0, skew = 0, asking = false;

  async function ask() {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    try {
      // The first one is what the page asked for as it was loaded.
      const answer = await fetch("data", tag ? { cache: "no-store", headers: { "If-None-Match": tag } } : {});
      const date = Date.parse(answer.headers.get("Date"));
      if (date) skew = date - Date.now();
      if (answer.status === 200) {
        const document = await answer.json();
        tag = answer.headers.get("ETag");
        wait = Math.min(Math.max(document.interval * 1000, 1000), document.jobs ? SLOWEST : RETRY);
        take(document);
      } else if (answer.status !== 304) {
        throw new Error((await answer.text()).trim() || `status ${answer.status}`);
      }
      fail("");
    } catch (error) {
      fail(error instanceof TypeError ? "the board does not answer" : error.message);
      wait = Math.min(wait, RETRY);
    } finally {
      asking = false;
    }
    timer = setTimeout(ask, document.hidden ? SLOWEST : wait);
  }

  document.addEventListener("visibilitychange", () => document.hidden || ask());
  ask();
  return { now: () => (Date.now() + (Math.abs(skew) > 2000 ? skew : 0)) / 1000 };
}

async function question(path, job, at, signal) {
  const answer = await fetch(`${path}?${new URLSearchParams({ job, at: String(at) })}`, { cache: "no-store", signal });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer;
}

export async function askStory(job, at, signal) {
  return (await question("story", job, at, signal)).json();
}

export async function askOccurrences(job, at, signal) {
  return (await question("occurrences", job, at, signal)).json();
}
