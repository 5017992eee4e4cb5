/** Kubernetes' `format.<name>().validate(text)`: an optional list of what is wrong, none when nothing is. */

import { isIP } from "node:net";
import { type Environment, Optional } from "@marcbachmann/cel-js";
import { formatCheck } from "../../formats.ts";

class Format {
  readonly name: string;
  readonly check: (text: string) => boolean;
  constructor(name: string, check: (text: string) => boolean) {
    this.name = name;
    this.check = check;
  }
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const isSubdomain = (text: string): boolean =>
  text.length <= 253 && text.split(".").every((part) => part.length > 0 && LABEL.test(part));
const isLabel = (text: string): boolean => text.length <= 63 && LABEL.test(text);
const isQualifiedName = (text: string): boolean => {
  const [name = "", prefix, more] = text.split("/").reverse();
  return (
    more === undefined && name.length <= 63 && QUALIFIED.test(name) && (prefix === undefined || isSubdomain(prefix))
  );
};

const FORMATS: readonly Format[] = [
  new Format("dns1123Label", isLabel),
  new Format("dns1123Subdomain", isSubdomain),
  new Format("dns1035Label", (text) => text.length <= 63 && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text)),
  new Format("dns1123LabelPrefix", (text) => isLabel(text.replace(/-$/, "a"))),
  new Format("dns1123SubdomainPrefix", (text) => isSubdomain(text.replace(/-$/, "a"))),
  new Format("dns1035LabelPrefix", (text) => /^[a-z][-a-z0-9]*$/.test(text) && text.length <= 63),
  new Format("qualifiedName", isQualifiedName),
  new Format("labelValue", (text) => text === "" || (text.length <= 63 && QUALIFIED.test(text))),
  new Format("uri", formatCheck("uri") ?? (() => true)),
  new Format("uuid", formatCheck("uuid") ?? (() => true)),
  new Format("byte", formatCheck("byte") ?? (() => true)),
  new Format("date", formatCheck("date") ?? (() => true)),
  new Format("datetime", formatCheck("date-time") ?? (() => true)),
  new Format("ip", (text) => isIP(text) !== 0),
];

export function registerFormats(environment: Environment): void {
  class FormatNamespace {}
  environment
    .registerType("FormatNamespace", FormatNamespace)
    .registerType("Format", Format)
    .registerConstant("format", "FormatNamespace", new FormatNamespace())
    .registerFunction("FormatNamespace.named(string): optional<Format>", (_: unknown, name: string) => {
      const found = FORMATS.find((f) => f.name === name);
      return found ? Optional.of(found) : Optional.none();
    })
    .registerFunction("Format.validate(string): optional<list<string>>", (format: Format, text: string) =>
      format.check(text) ? Optional.none() : Optional.of([`must be a valid ${format.name}`]),
    );
  for (const format of FORMATS) environment.registerFunction(`FormatNamespace.${format.name}(): Format`, () => format);
}
