/**
 * What every part stands on: the clock and randomness as ports, coded errors, logs without secrets, addresses, quantities, HTTP as a
 * function from request to answer, private files. Opens no socket and starts no timer by itself; knows nothing of Kubernetes.
 */
export { ByteBudget, type ByteLimits } from "./byte-budget.ts";
export {
  type Clock,
  deadline,
  isoTime,
  parseTime,
  rfc3339,
  rfc3339Micro,
  steadyClock,
  systemClock,
  type Timer,
} from "./clock.ts";
export { closeAll } from "./close-all.ts";
export { diskFault } from "./disk-fault.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { asFault, type Code, Fault, isFault } from "./fault.ts";
export { Heap } from "./heap.ts";
export {
  DEFAULT_TIMEOUT_MS,
  type Http,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  json,
  plain,
  type TlsPeer,
} from "./http.ts";
export {
  addIp,
  type Cidr,
  contains,
  formatIp,
  netmask,
  networkOf,
  overlaps,
  parseCidr,
  parseIp,
  rangeOf,
  tryParseCidr,
  tryParseIp,
} from "./ip.ts";
export { type Log, quietLog } from "./log.ts";
export { isMac, type Mac, macBytes, macFromBytes, parseMac } from "./mac.ts";
export { type MemoryUse, saveMemoryAtRest } from "./memory-saver.ts";
export { offLoop } from "./off-loop.ts";
export { privateFile, privateFolder, replacePrivateFile } from "./private-folder.ts";
export { canonicalQuantity, compareQuantities, parseQuantity, quantityNumber } from "./quantity.ts";
export { ALPHANUMERIC, cryptoRandom, LOWER_CASE, type Random, seededRandom, text, uuid } from "./random.ts";
export { sameJson } from "./same-json.ts";
export { Secrets } from "./secrets.ts";
export { NO_TALLIES, type Tallied, type Tallies, type Tally } from "./tallies.ts";
export { type TarEntry, tarHeader, tarOf, tarTail } from "./tar.ts";
export { VERSION } from "./version.ts";
