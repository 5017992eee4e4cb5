/** For tests: planes with certificates of their own. */
import { generateKeyPairSync } from "node:crypto";
import { systemClock as clock } from "@slipway/base";
import { createAuthority, type Issued, issueClient, issueServer } from "../pki/authority.ts";
import { kubeconfig } from "../pki/kubeconfig.ts";
import type { KeyPair, Plane } from "./plane.ts";

const pair = ({ certificatePem: cert, keyPem: key }: Issued): KeyPair => ({ cert, key });

export interface TestPlane {
  plane: Plane;
  /** The administrator's way in. */
  admin: { server: string; ca: string; cert: string; key: string };
}

/** A plane at a place, with all its certificates. */
export async function testPlane(id: string, { host, port }: { host: string; port: number }): Promise<TestPlane> {
  const ca = await createAuthority({ commonName: "kubernetes", clock });
  const front = await createAuthority({ commonName: "front-proxy-ca", clock });
  const client = async (commonName: string, ...organizations: string[]) =>
    await issueClient(ca, { commonName, organizations, clock });
  const hosts = [host, "kubernetes", "kubernetes.default.svc", "10.96.0.1"];
  const server = await issueServer(ca, { commonName: "kube-apiserver", hosts, clock });
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const conf = ({ certificatePem: clientCertPem, keyPem: clientKeyPem }: Issued) =>
    kubeconfig({ name: id, server: `https://${host}:${port}`, caPem: ca.certificatePem, clientCertPem, clientKeyPem });
  const plane: Plane = {
    ...{ id, name: `tenants/${id}`, version: "v1.36.3", replicas: 1, host, port },
    pki: {
      ca: pair(ca),
      apiServer: pair(server),
      apiServerKubeletClient: pair(await client("kube-apiserver-kubelet-client", "kubeadm:cluster-admins")),
      frontProxyCa: pair(front),
      frontProxyClient: pair(await issueClient(front, { commonName: "front-proxy-client", organizations: [], clock })),
      accounts: {
        publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
        privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      },
    },
    kubeconfigs: {
      controllerManager: conf(await client("system:kube-controller-manager")),
      scheduler: conf(await client("system:kube-scheduler")),
    },
    serviceCidrs: ["10.96.0.0/16"],
    podCidrs: ["10.244.0.0/16"],
    clusterDomain: "cluster.local",
    admissionPlugins: ["NodeRestriction"],
    kubeletAddressTypes: ["InternalIP"],
    extraArgs: { apiServer: [], controllerManager: [], scheduler: [] },
  };
  const admin = await client("kubernetes-admin", "system:masters");
  return { plane, admin: { server: `https://${host}:${port}`, ca: ca.certificatePem, ...pair(admin) } };
}
