/** What Kubernetes checks texts by: the formats of schemas, the rules for names and labels, patterns of RE2. */

export {
  dnsLabel,
  dnsSubdomain,
  labelValue,
  type NameRule,
  pathSegment,
  portName,
  qualifiedName,
} from "./object-names.ts";
export { Pattern } from "./pattern.ts";
export { formatCheck, formatThatCounts } from "./string-formats.ts";
