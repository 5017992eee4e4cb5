import { offered } from "./complete.ts";
import { type Asked, type Place, placesOf } from "./completion-places.ts";
import { say } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

/** What the last line says of how a shell goes on, as bits: cobra's ShellCompDirective. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** `slipway complete-for-kubectl`: what kubectl's completion asks a plugin (kubectl_complete-slipway). Never fails at a prompt. */
export const verb: Verb = (program) => {
  program
    .command("complete-for-kubectl", { hidden: true })
    .description(
      "Print what can be typed next, as kubectl asks its plugins: words with their meanings, and a directive.",
    )
    .argument("[words...]", "what was typed behind `kubectl slipway`; the last word may be empty")
    .addHelpText("after", '\nExamples:\n  slipway complete-for-kubectl -- get ""')
    .action(async (words: string[]) => {
      const typed = words.at(-1) ?? "";
      const found = nextWords(placesOf(program), words);
      const objects = found.asks === undefined ? [] : await offered(found.asks, typed);
      const all = [...found.words, ...objects.map((name) => ({ name, description: "" }))];
      const fitting = all.filter(({ name }) => name.startsWith(typed));
      for (const { name, description } of fitting) say(description === "" ? name : `${name}\t${description}`);
      const opens = fitting.length > 0 && fitting.every(({ name }) => name.endsWith("/"));
      say(`:${(opens ? NO_SPACE : 0) | (all.length > 0 ? NO_FILES : 0)}`);
    });
};

interface Next {
  words: Place["words"];
  asks?: Asked | undefined;
}

/** What can stand in the place of the last word. Options are offered to one who has begun to type one. */
function nextWords(places: readonly Place[], words: readonly string[]): Next {
  const typed = words.at(-1) ?? "";
  const placeAt = (path: readonly string[]): Place | undefined =>
    places.find((one) => one.path.length === path.length && one.path.every((name, i) => name === path[i]));
  let place = placeAt([])!;
  for (const word of words.slice(0, -1)) place = placeAt([...place.path, word]) ?? place;
  const bare = (names: readonly string[]): Next["words"] => names.map((name) => ({ name, description: "" }));
  const valued = place.options.find(({ names }) => names.includes(words.at(-2) ?? ""));
  if (valued !== undefined && (valued.values.length > 0 || valued.asks !== undefined))
    return { words: bare(valued.values), asks: valued.asks };
  if (typed.startsWith("-")) return { words: bare(place.options.flatMap(({ names }) => names)) };
  return { words: place.words, asks: place.asks };
}
