import type { System } from "../systems/system.ts";
import { installSettings, placeOf } from "./install/values.ts";
import { systemsOf } from "./operator.ts";
import { givenSettings, type Setting, sentence } from "./settings.ts";

/** `docs/settings.md`: what may be set of each system, and how. */
export function settingsReference(systems: readonly System[]): string {
  const parts = systems.map((system) => {
    const settings = givenSettings([system]);
    const inChart = new Set(installSettings(systemsOf()).map(placeOf));
    const rows = settings.map((setting) => `| ${cells(setting, inChart).join(" | ")} |`);
    const table = ["| Setting | Given by | Default | Meaning |", "| --- | --- | --- | --- |", ...rows].join("\n");
    return `## ${system.name}\n\n${sentence(system.summary)}\n\n${rows.length === 0 ? "Nothing can be set." : table}\n`;
  });
  return [HEADER, ...parts].join("\n");
}

const HEADER = `# Settings of the systems

What may be set of each system that the operator runs: by an option of \`slipway operator\`, by an environment variable, or by a value of
the chart, which gives one of the two. \`slipway operator --help\` names the operator's own options.
`;

function cells(setting: Setting, inChart: ReadonlySet<string>): string[] {
  const { name, flag, env, about, default: usual } = setting;
  const value = placeOf(setting);
  const ways = [flag && `\`${flag}\``, env && `\`$${env}\``, inChart.has(value) ? `\`${value}\`` : undefined].filter(
    (way) => way !== undefined,
  );
  return [name, ways.join(", "), usual === undefined ? "" : `\`${JSON.stringify(usual)}\``, sentence(about)];
}
