import type { Command } from "commander";
import { Fault } from "../base/fault.ts";
import type { Verb } from "./main.ts";

export const verb: Verb = (program) => {
  program
    .command("completion <shell>")
    .description("Print a completion script: `source <(slipway completion bash)`, or zsh, or fish.")
    .action((shell: string) => {
      const write = SHELLS[shell];
      if (write === undefined) {
        throw new Fault("BadRequest", "completion", `no completion for ${shell}`, {
          remedy: `use one of ${Object.keys(SHELLS).join(", ")}`,
        });
      }
      console.log(write(wordsOf(program)));
    });
};

interface Words {
  verbs: { name: string; description: string; options: string[] }[];
}

/** What can be typed, read from the commands themselves. */
function wordsOf(program: Command): Words {
  const verbs = program.commands.map((command) => ({
    name: command.name(),
    description: command.description().replaceAll(/[`'":]/g, ""),
    options: command.options.flatMap((option) => [option.long ?? "", option.short ?? ""]).filter(Boolean),
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
