import type { Clock, Log, Random } from "@slipway/base";
import { type Client, createClient, type Ref, type Transport } from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import { credentialsOf } from "../../pki/tenant/credentials.ts";
import { kubeconfigOf } from "../../workload/kubeconfig-secret.ts";

/** The workload cluster's API, for its administrator. */
export interface WorkloadApi {
  client: Client;
  transport: Transport;
}

export interface WorkloadPorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** Default: HTTP. */
  openApi?: (access: Parameters<typeof createHttpTransport>[0]) => Transport;
}

/** The way to a workload cluster, made anew when its kubeconfig is another. */
export class WorkloadWay {
  readonly #management: Client;
  readonly #cluster: Ref;
  readonly clock: Clock;
  readonly #ports: WorkloadPorts;
  #open: (WorkloadApi & { kubeconfig: string }) | undefined;

  constructor(management: Client, cluster: Ref, ports: WorkloadPorts) {
    this.#management = management;
    this.#cluster = cluster;
    this.#ports = ports;
    this.clock = ports.clock;
  }

  /** Undefined: there is no kubeconfig yet, or no more. */
  async api(): Promise<WorkloadApi | undefined> {
    const kubeconfig = await kubeconfigOf(this.#management, this.#cluster);
    if (kubeconfig === this.#open?.kubeconfig) return this.#open;
    await this.close();
    const found = kubeconfig === undefined ? undefined : credentialsOf(kubeconfig);
    if (kubeconfig === undefined || found === undefined) return undefined;
    const { server, caPem: ca, certificatePem: cert, keyPem: key } = found;
    const { openApi = createHttpTransport } = this.#ports;
    const transport = openApi({ server, ca, cert, key });
    this.#open = { kubeconfig, transport, client: createClient(transport, this.#ports) };
    return this.#open;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.transport.close();
  }
}
