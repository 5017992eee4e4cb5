import { stripVTControlCharacters } from "node:util";
import { asFault, type Clock, rfc3339, type Secrets, type TarEntry, VERSION } from "@slipway/base";
import type { Client, KubeObject, Resource, Transport } from "@slipway/kube";
import { ConfigMap, CustomResourceDefinition, Deployment, Event, Lease, Node, Pod, Secret } from "@slipway/kube/core";
import { dump } from "js-yaml";
import { eventRow } from "../../views/event-row.ts";
import { overviewOf } from "../../views/overview.ts";
import type { ServedKind } from "../listing/kinds.ts";
import { readObjects } from "../listing/read.ts";
import { statusLines } from "../status/lines.ts";
import { filterOf, nameOfSecret, withoutSecrets } from "./redact.ts";

export interface ExportPorts {
  client: Client;
  transport: Transport;
  clock: Clock;
}

export interface ExportOf {
  served: readonly ServedKind[];
  /** The operator's. */
  namespace: string;
  /** Lines of each Pod's log. */
  logLines: number;
}

/** The operator's Pods. */
const OPERATOR = "app.kubernetes.io/name=slipway";

/**
 * All that a support bundle has, as files. Values of the cluster's Secrets are looked for in everything, and taken out; no Secret is in it but by its name
 * and its keys. What the user may not read is named in `problems.txt`.
 */
export async function bundleOf(ports: ExportPorts, of: ExportOf): Promise<TarEntry[]> {
  const { client, transport, clock } = ports;
  const problems: string[] = [];
  const read = async <T extends KubeObject>(resource: Resource<T>, options: object = {}): Promise<T[]> => {
    try {
      return (await client.list(resource, options)).items;
    } catch (error) {
      problems.push(asFault(error, resource.plural).message);
      return [];
    }
  };
  const secrets = await read(Secret);
  const filter = filterOf(secrets);
  const { namespace } = of;
  const objects = await readObjects(client, of.served);
  problems.push(...objects.problems);
  const events = await read(Event);
  const { body: version } = await transport.request({ method: "GET", path: "/version" });
  const [own, pods] = await Promise.all([
    Promise.all([
      read(Deployment, { namespace }),
      read(Lease, { namespace }),
      read(ConfigMap, { namespace, fieldSelector: "metadata.name=slipway" }),
    ]),
    read(Pod, { namespace, labelSelector: OPERATOR }),
  ]);
  const now = clock.now();
  const overview = overviewOf(objects.shown, events.map(eventRow), now);
  const status = statusLines(filter.clean(overview), now).map(stripVTControlCharacters);
  const files = new Files(filter);
  files.add("about.yaml", { slipway: VERSION, taken: rfc3339(now), kubernetes: version });
  files.text("status.txt", status.join("\n"));
  for (const { kind, objects: some } of objects.shown)
    if (some.length > 0) files.objects(`objects/${kind.toLowerCase()}.yaml`, some);
  files.objects("events.yaml", events);
  files.objects("nodes.yaml", await read(Node));
  files.objects("operator/objects.yaml", [...own.flat(), ...pods]);
  files.add("definitions.yaml", (await read(CustomResourceDefinition)).map(definition));
  files.add("secrets-by-name.yaml", secrets.map(nameOfSecret));
  for (const pod of pods) {
    const { name } = pod.metadata;
    files.text(
      `operator/${name.slice(0, 60)}.log`,
      await logOf(transport, { namespace, name, lines: of.logLines }, problems),
    );
  }
  files.text("problems.txt", problems.length === 0 ? "none: everything was read" : problems.join("\n"));
  return files.entries;
}

/** Files, each of which has gone through the filter. */
class Files {
  readonly entries: TarEntry[] = [];
  readonly #filter: Secrets;

  constructor(filter: Secrets) {
    this.#filter = filter;
  }

  text(name: string, text: string): void {
    // Line by line: the filter cuts off long texts.
    const lines = text.split("\n").map((line) => this.#filter.text(line));
    // A secret of several lines is known by each of them, and by its shape only as a whole.
    this.entries.push({
      name: `slipway-export/${name}`,
      bytes: Buffer.from(`${this.#filter.redact(lines.join("\n"))}\n`),
    });
  }

  add(name: string, value: unknown): void {
    this.text(name, dump(this.#filter.clean(value), { lineWidth: -1, noRefs: true }));
  }

  objects(name: string, objects: readonly KubeObject[]): void {
    this.add(
      name,
      objects.map((object) => withoutSecrets(object, this.#filter)),
    );
  }
}

function definition({ metadata: { name, annotations = {} }, ...rest }: CustomResourceDefinition): object {
  const { spec, status } = rest as {
    spec?: { versions?: { name: string; served: boolean; storage: boolean }[] };
    status?: { conditions?: unknown };
  };
  const versions = spec?.versions?.map(({ name: version, served, storage }) => ({ version, served, storage }));
  return {
    name,
    version: annotations["slipway.dev/version"] ?? null,
    versions,
    conditions: status?.conditions ?? null,
  };
}

async function logOf(
  transport: Transport,
  { namespace, name, lines }: { namespace: string; name: string; lines: number },
  problems: string[],
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log`;
  try {
    const { status, body } = await transport.request({
      method: "GET",
      path,
      query: { tailLines: String(lines) },
      accept: "*/*",
    });
    if (status === 200) return typeof body === "string" ? body : JSON.stringify(body);
    problems.push(`log of Pod ${name}: the API answered ${status}`);
  } catch (error) {
    problems.push(`log of Pod ${name}: ${asFault(error, name).message}`);
  }
  return "";
}
