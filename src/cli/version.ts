import { VERSION } from "@slipway/base";
import { Option } from "commander";
import type { Verb } from "./verb.ts";

/** `slipway version`: as text or JSON. */
export const verb: Verb = (program) => {
  program
    .command("version")
    .description("Print the version.")
    .addOption(new Option("-o, --output <format>", "how it is printed").choices(["text", "json"]).default("text"))
    .addHelpText("after", "\nExample:\n  slipway version -o json")
    .action(({ output }: { output: string }) => {
      const versions = { slipway: VERSION, node: process.version, platform: `${process.platform}/${process.arch}` };
      console.log(
        output === "json"
          ? JSON.stringify(versions)
          : `slipway ${VERSION} (node ${process.version}, ${versions.platform})`,
      );
    });
};
