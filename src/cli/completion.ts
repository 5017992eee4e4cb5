import { Argument, type Command } from "commander";
import type { Verb } from "./verb.ts";

/** `slipway completion`: prints a script; asks no server. */
export const verb: Verb = (program) => {
  program
    .command("completion")
    .description("Print a completion script for a shell.")
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SHELLS)))
    .addHelpText(
      "after",
      `
Examples:
  source <(slipway completion bash)
  slipway completion zsh > "\${fpath[1]}/_slipway"
  slipway completion fish > ~/.config/fish/completions/slipway.fish`,
    )
    .action((shell: string) => console.log(SHELLS[shell]!(wordsOf(program))));
};

interface Words {
  verbs: { name: string; description: string; options: string[] }[];
}

/** What can be typed, read from the commands themselves. */
function wordsOf(program: Command): Words {
  const verbs = program.commands.map((command) => ({
    name: command.name(),
    description: command.description().replaceAll(/[`'":]/g, ""),
    options: command.options.flatMap(({ long, short }) => [long, short]).filter((word) => word !== undefined),
  }));
  return { verbs };
}

const SHELLS: Readonly<Record<string, (words: Words) => string>> = {
  bash: ({ verbs }) => `_slipway() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map((v) => v.name).join(" ")}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${verbs.map((v) => `    ${v.name}) COMPREPLY=($(compgen -W "${v.options.join(" ")}" -- "$word")) ;;`).join("\n")}
  esac
}
complete -o default -F _slipway slipway`,
  zsh: ({ verbs }) => `#compdef slipway
_slipway() {
  if (( CURRENT == 2 )); then
    _values 'verb' ${verbs.map((v) => `'${v.name}[${v.description}]'`).join(" ")}
    return
  fi
  case "$words[2]" in
${verbs.map((v) => `    ${v.name}) _values 'option' ${v.options.map((o) => `'${o}'`).join(" ")} ;;`).join("\n")}
  esac
}
compdef _slipway slipway`,
  fish: ({ verbs }) =>
    verbs
      .flatMap((v) => [
        `complete -c slipway -n __fish_use_subcommand -a ${v.name} -d '${v.description}'`,
        ...v.options
          .filter((o) => o.startsWith("--"))
          .map((o) => `complete -c slipway -n '__fish_seen_subcommand_from ${v.name}' -l ${o.slice(2)}`),
      ])
      .join("\n"),
};
