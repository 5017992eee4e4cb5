import { Argument } from "commander";
import { type Asked, type Place, placesOf } from "./completion-places.ts";
import type { Verb } from "./verb.ts";

/** `slipway completion`: prints a script; asks no server. */
export const verb: Verb = (program) => {
  program
    .command("completion")
    .description(
      "Print a completion script for a shell: verbs, what they take, options and their values, kinds, names and namespaces of the cluster of $KUBECONFIG.",
    )
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SHELLS)))
    .addHelpText(
      "after",
      `
Examples:
  source <(slipway completion bash)
  slipway completion zsh > "\${fpath[1]}/_slipway"
  slipway completion fish > ~/.config/fish/completions/slipway.fish`,
    )
    .action((shell: string) => console.log(SHELLS[shell]!(placesOf(program))));
};

const namesOf = ({ words, options }: Place): string[] => [
  ...words.map(({ name }) => name),
  ...options.flatMap(({ names }) => names),
];

/** In bash and zsh: sets `place` to the commands among the words typed before, each with a space before it. */
function walk(places: readonly Place[], typed: string): string {
  const known = places.filter(({ path }) => path.length > 0).map(({ path }) => `" ${path.join(" ")}"`);
  return `  for word in ${typed}; do
    case "$place $word" in
      ${known.join("|")}) place="$place $word" ;;
    esac
  done`;
}

/** The cases of `place` and the word before, for options that take one of a few values. */
function valueCases(places: readonly Place[], found: (values: string) => string, ask: (what: Asked) => string): string {
  return places
    .flatMap(({ path, options }) =>
      options
        .filter(({ values, asks }) => values.length > 0 || asks !== undefined)
        .map(({ names, values, asks }) => {
          const before = names.map((name) => `"${[" ", path.join(" "), " ", name].join("").replace(/^ {2}/, " ")}"`);
          return `    ${before.join("|")}) ${found(asks === undefined ? values.join(" ") : ask(asks))} ;;`;
        }),
    )
    .join("\n");
}

const caseOf = ({ path }: Place): string => `"${path.map((name) => ` ${name}`).join("")}"`;

const bashAsks = (what: Asked): string => `$("\${COMP_WORDS[0]}" complete ${what} "$last" 2>/dev/null)`;
const zshAsks = (what: Asked): string => `\${(f)"$("\${words[1]}" complete ${what} "\${words[CURRENT]}" 2>/dev/null)"}`;
const fishAsks = (what: Asked): string => `(slipway complete ${what} (commandline -ct) 2>/dev/null)`;

const SHELLS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: (places) => `_slipway() {
  local place="" word list="" last="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
${walk(places, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "$place $before" in
${valueCases(places, (values) => `list="${values}"`, bashAsks)}
    *) case "$place" in
${places.map((place) => `      ${caseOf(place)}) list="${[...namesOf(place), ...(place.asks ? [bashAsks(place.asks)] : [])].join(" ")}" ;;`).join("\n")}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$list" -- "$last"))
  if [[ "\${COMPREPLY[0]}" == */ ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _slipway slipway`,
  zsh: (places) => `#compdef slipway
_slipway() {
  local place="" word before="\${words[CURRENT-1]}"
  local -a list=() names=()
${walk(places, '"${(@)words[2,CURRENT-1]}"')}
  case "$place $before" in
${valueCases(places, (values) => `names=(${values})`, zshAsks)}
    *) case "$place" in
${places
  .map((place) => {
    const described = place.words.map(({ name, description }) => `'${name}:${description}'`).join(" ");
    return `      ${caseOf(place)}) list=(${described}) names=(${[...place.options.flatMap(({ names }) => names), ...(place.asks ? [zshAsks(place.asks)] : [])].join(" ")}) ;;`;
  })
  .join("\n")}
    esac ;;
  esac
  (( $#list )) && _describe 'slipway' list
  (( $#names )) && compadd -- $names
  _files
}
compdef _slipway slipway`,
  fish: (places) =>
    places
      .flatMap((place) => {
        const seen = place.path.map((name) => `__fish_seen_subcommand_from ${name}`);
        const deeper = places.filter(
          ({ path }) => path.length === place.path.length + 1 && path.at(-2) === place.path.at(-1),
        );
        const not =
          deeper.length === 0
            ? []
            : [`not __fish_seen_subcommand_from ${deeper.map(({ path }) => path.at(-1)).join(" ")}`];
        const when = `complete -c slipway -n '${[...seen, ...not].join("; and ") || "true"}'`;
        return [
          ...place.words.map(({ name, description }) => `${when} -a ${name}${description && ` -d '${description}'`}`),
          ...(place.asks === undefined ? [] : [`${when} -f -a '${fishAsks(place.asks)}'`]),
          ...place.options.map(({ names, values, asks }) => {
            const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
            const offered = asks === undefined ? values.join(" ") : fishAsks(asks);
            return `${when} ${flags.join(" ")}${offered && ` -x -a '${offered}'`}`;
          }),
        ];
      })
      .join("\n"),
};
