import { type Command, InvalidArgumentError, Option } from "commander";

export const OUTPUTS = ["wide", "json", "yaml", "name"] as const;
export type Output = (typeof OUTPUTS)[number];

/** What every listing takes. */
export interface ListingOptions {
  namespace?: string;
  allNamespaces?: boolean;
  selector?: string;
  output?: Output;
  watch?: boolean;
  kubeconfig?: string;
  context?: string;
}

/** Adds the options that lead to a cluster. */
export function addClusterOptions(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "the cluster; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig");
}

/** Adds the options that every listing of objects takes. */
export function addListingOptions(
  command: Command,
  { outputs = OUTPUTS as readonly string[], about = "" } = {},
): Command {
  command
    .option("-n, --namespace <namespace>", "only of this namespace; unset: of all")
    .option(
      "-l, --selector <labels>",
      "only with these labels: KEY=VALUE, KEY!=VALUE, KEY in (A,B), with commas between",
      labels,
    )
    .addOption(
      new Option("-o, --output <format>", about || "wide: more columns; name: KIND/NAME alone; unset: a table").choices(
        outputs,
      ),
    )
    .option("-w, --watch", "go on and show what changes, until Ctrl-C");
  return addClusterOptions(command);
}

function labels(text: string): string {
  if (!/^[^\s,=!()][^\n]*$|^![^\n]+$/.test(text))
    throw new InvalidArgumentError("Give labels such as rack=a,disk!=slow.");
  return text;
}
