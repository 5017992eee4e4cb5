import { styleText } from "node:util";
import type { Counted, Load } from "../../views/load.ts";
import { table } from "../progress.ts";

const MOST = 15;

/** One screen of what an operator does. Pure but for colours, which are for terminals. */
export function loadLines({ machines, calls, controllers, leads }: Load): string[] {
  const machineRows = Object.entries(machines).map(([what, counted]) => [what, ...cells(counted)]);
  const callRows = calls.map((call) => [call.provider, call.operation, call.code, ...cells(call)]);
  const controllerRows = controllers.map(({ name, waiting, delayed, active, reconciles, errors }) => [
    ...[name, String(waiting), String(delayed), String(active)],
    ...[rate(reconciles), rate(errors), String(errors.total)],
  ]);
  return [
    `${styleText("bold", "Leads")} ${leads.length === 0 ? "nothing" : leads.join(", ")}`,
    ...section("Machines", ["", "PER MINUTE", "TOTAL"], machineRows),
    ...section("Calls to providers", ["PROVIDER", "OPERATION", "RESULT", "PER MINUTE", "TOTAL"], callRows),
    ...section(
      "Controllers",
      ["NAME", "WAITING", "LATER", "ACTIVE", "PER MINUTE", "ERRORS PER MINUTE", "ERRORS"],
      controllerRows,
    ),
  ];
}

function section(title: string, heads: string[], rows: string[][]): string[] {
  if (rows.length === 0) return [];
  const [head = "", ...lines] = table(heads, rows.slice(0, MOST));
  const left = rows.length - MOST;
  const more = left > 0 ? [`  … ${left} more`] : [];
  return ["", styleText("bold", title), styleText("dim", `  ${head}`), ...lines.map((line) => `  ${line}`), ...more];
}

const rate = ({ perMinute }: Counted): string =>
  perMinute === undefined ? "-" : perMinute.toFixed(perMinute < 10 ? 1 : 0);
const cells = (counted: Counted): string[] => [rate(counted), String(counted.total)];
