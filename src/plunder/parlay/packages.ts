import type { Problem } from "../files/document.ts";
import { isSaid } from "../files/texts.ts";
import type { ActionFields } from "../files/treasure-map.ts";

/** By manager and operation, what comes before the names. None asks anything. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apt: {
    install: "DEBIAN_FRONTEND=noninteractive apt-get -q -y install --",
    remove: "DEBIAN_FRONTEND=noninteractive apt-get -q -y remove --",
  },
  yum: { install: "yum -q -y install --", remove: "yum -q -y remove --" },
  dnf: { install: "dnf -q -y install --", remove: "dnf -q -y remove --" },
};

/** The command of an action `pkg`; what is wrong is added to `problems`. */
export function packageCommand(
  fields: Pick<ActionFields, "packageManager" | "packageOperation" | "packages">,
  problems: Problem[],
): string {
  const { packageManager: manager = "", packageOperation: operation = "", packages = "" } = fields;
  const operations = Object.hasOwn(COMMANDS, manager) ? COMMANDS[manager] : undefined;
  if (operations === undefined)
    problems.push({ path: ["packageManager"], message: `must be one of ${Object.keys(COMMANDS).join(", ")}` });
  const begins = operations !== undefined && Object.hasOwn(operations, operation) ? operations[operation] : undefined;
  if (operations !== undefined && begins === undefined)
    problems.push({ path: ["packageOperation"], message: `must be one of ${Object.keys(operations).join(", ")}` });
  const names = packages.split(/[\s,]+/).filter(isSaid);
  if (names.length === 0) problems.push({ path: ["packages"], message: "pkg needs the name of a package" });
  const strange = names.some((name) => !/^[A-Za-z0-9@][A-Za-z0-9+.:_~^=*-]{0,127}$/.test(name));
  if (strange)
    problems.push({ path: ["packages"], message: "must be names of packages, with blanks or commas between them" });
  return [begins ?? "false", ...(strange ? [] : names.map((name) => `'${name}'`))].join(" ");
}
