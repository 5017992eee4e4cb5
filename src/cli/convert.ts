import { Fault } from "@slipway/base";
import { Option } from "commander";
import { convertedFile } from "../kinds/manifests/convert.ts";
import { ALL_KINDS } from "../operator/kinds.ts";
import { manifestTexts } from "./manifest-files.ts";
import { asCalled } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

interface ConvertOptions {
  filename: string[];
  output: "yaml" | "json";
}

/** `slipway convert`: asks no server. Manifests go to standard output, and what is to be known of them to standard error. */
export const verb: Verb = (program) => {
  program
    .command("convert")
    .description("Print manifests of old API versions, such as cluster-api-plunder's of 2019, in today's.")
    .requiredOption("-f, --filename <file...>", "files or folders with manifests; - is standard input")
    .addOption(new Option("-o, --output <format>", "how they are printed").choices(["yaml", "json"]).default("yaml"))
    .addHelpText(
      "after",
      `
Objects of today, and of kinds that Slipway does not know, are printed as they are. Comments stay with their fields. What today's version has no place
for is named on standard error, with file and line. Inline bootstrap data of a Machine becomes a Secret.

Examples:
  slipway convert -f examples/plunder/2019
  slipway convert -f cluster.yaml -f machine.yaml >today.yaml
  kubectl get plundermachines -A -o yaml | slipway convert -f -`,
    )
    .action(async ({ filename, output }: ConvertOptions) => {
      const files = (await manifestTexts(filename)).map(({ path, content }) => convertedFile(content, path, ALL_KINDS));
      const objects = files.flatMap((file) => file.objects);
      if (objects.length === 0)
        throw new Fault("MissingInput", filename.join(", "), "there are no objects in it", {
          remedy: "name a file with manifests",
        });
      for (const note of files.flatMap(({ notes }) => notes)) console.error(asCalled(note));
      if (files.every(({ changed }) => changed === 0)) console.error("nothing to convert: all are of today's versions");
      console.log(output === "json" ? json(objects) : yaml(files.flatMap(({ texts }) => texts)));
    });
};

const yaml = (texts: readonly string[]): string => texts.map((one) => one.trimEnd()).join("\n---\n");

function json(objects: readonly object[]): string {
  const [first, ...rest] = objects;
  return JSON.stringify(rest.length === 0 ? first : { apiVersion: "v1", kind: "List", items: objects }, undefined, 2);
}
