import { Fault, VERSION } from "@slipway/base";

/** Where traces go, by the variables of OpenTelemetry's specification. */
export interface TraceSettings {
  url: string;
  /** Names in lower case; values may be credentials. */
  headers: Readonly<Record<string, string>>;
  /** What the spans come from. */
  resource: Readonly<Record<string, string>>;
  timeoutMs: number;
}

const TIMEOUT_MS = 10_000;
const PROTOCOL = "http/json";

/** Undefined where no endpoint is set, or tracing is switched off. Throws a `Fault` for what can't be used. */
export function traceSettings(env: Readonly<Record<string, string | undefined>>): TraceSettings | undefined {
  const given = (name: string): [name: string, value: string] | undefined => {
    for (const one of [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`])
      if (env[one]) return [one, env[one]];
    return undefined;
  };
  const endpoint = given("ENDPOINT");
  if (endpoint === undefined || env.OTEL_SDK_DISABLED === "true" || env.OTEL_TRACES_EXPORTER === "none")
    return undefined;
  const protocol = given("PROTOCOL");
  if (protocol !== undefined && protocol[1] !== PROTOCOL)
    throw new Fault("Invalid", protocol[0], `${protocol[1]} is not spoken`, {
      remedy: `set it to ${PROTOCOL}, which collectors take on the port of http/protobuf (4318)`,
    });
  const timeout = given("TIMEOUT");
  const timeoutMs = timeout === undefined ? TIMEOUT_MS : Number(timeout[1]);
  if (!(timeoutMs > 0))
    throw new Fault("Invalid", timeout![0], "it is no time", { remedy: "give it in milliseconds: 10000" });
  return {
    url: urlOf(endpoint),
    headers: Object.fromEntries(
      Object.entries(pairsOf(given("HEADERS"))).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    resource: {
      "service.name": env.OTEL_SERVICE_NAME || "slipway",
      "service.version": VERSION,
      ...pairsOf(["OTEL_RESOURCE_ATTRIBUTES", env.OTEL_RESOURCE_ATTRIBUTES ?? ""]),
    },
    timeoutMs,
  };
}

/** The endpoint of traces is taken as it is; that of all signals gets their path. */
function urlOf([name, value]: readonly [string, string]): string {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Fault("Invalid", name, "it is no http or https URL", { remedy: "such as http://collector:4318" });
  if (name.includes("_TRACES_")) return url.href;
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}

/** `name=value,name=value`, with values escaped as in URLs. */
function pairsOf(given: readonly [name: string, value: string] | undefined): Record<string, string> {
  if (given === undefined || given[1].trim() === "") return {};
  return Object.fromEntries(
    given[1].split(",").map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new Fault("Invalid", given[0], "it is no list of name=value", { remedy: "such as a=1,b=2" });
      try {
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      } catch (cause) {
        throw new Fault("Invalid", given[0], "a value is escaped wrongly", { remedy: "write % as %25", cause });
      }
    }),
  );
}
