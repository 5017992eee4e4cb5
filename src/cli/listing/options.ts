import { type Command, InvalidArgumentError, Option } from "commander";
import type { Selected } from "./selected.ts";

export const OUTPUTS = ["wide", "json", "yaml", "name"] as const;
export type Output = (typeof OUTPUTS)[number];

/** What every listing takes. */
export interface ListingOptions {
  namespace?: string;
  allNamespaces?: boolean;
  selector?: string;
  fieldSelector?: string;
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
  {
    namespace = "only of this namespace; unset: of all",
    about = "wide: more columns; name: KIND.GROUP/NAME alone; unset: a table",
  } = {},
): Command {
  command
    .option("-n, --namespace <namespace>", namespace)
    .option(
      "-l, --selector <labels>",
      "only with these labels: KEY=VALUE, KEY!=VALUE, KEY in (A,B), with commas between",
      labels,
    )
    .option(
      "--field-selector <fields>",
      "only with these fields: FIELD=VALUE, FIELD!=VALUE, with commas between; every kind has metadata.name",
      fields,
    )
    .addOption(new Option("-o, --output <format>", about).choices(OUTPUTS))
    .option("-w, --watch", "go on and show what changes, until Ctrl-C");
  return addClusterOptions(command);
}

/** What the options select. */
export const selectedBy = ({
  namespace,
  selector,
  fieldSelector,
}: Pick<ListingOptions, "namespace" | "selector" | "fieldSelector">): Selected => ({
  namespace,
  labelSelector: selector,
  fieldSelector,
});

function labels(text: string): string {
  if (!/^[^\s,=!()][^\n]*$|^![^\n]+$/.test(text))
    throw new InvalidArgumentError("Give labels such as rack=a,disk!=slow.");
  return text;
}

/** Takes a field selector. Throws `InvalidArgumentError` for what is none. */
export function fields(text: string): string {
  if (!/^[\w.]+(?:==?|!=)[^,=]*(?:,[\w.]+(?:==?|!=)[^,=]*)*$/.test(text))
    throw new InvalidArgumentError("Give fields such as metadata.name=a.");
  return text;
}
