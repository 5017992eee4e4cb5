import { asFault, type Clock } from "@slipway/base";
import { GrpcConnection } from "../../datastores/etcd/grpc.ts";
import type { ComponentHealth } from "../plane.ts";

/** Whether a kine answers on its Unix socket: it asks its database for its size. Never rejects. */
export async function askKine(
  socket: string,
  { clock, ms, signal }: { clock: Clock; ms: number; signal: AbortSignal },
): Promise<ComponentHealth> {
  const grpc = new GrpcConnection({ endpoints: [{ host: "", port: 0, socket, text: socket }], tls: undefined });
  try {
    await grpc.call("/etcdserverpb.Maintenance/Status", new Uint8Array(), {}, { clock, ms, signal });
    return { component: "kine", ready: true };
  } catch (error) {
    return { component: "kine", ready: false, message: asFault(error, "kine").message };
  } finally {
    grpc.close();
  }
}
