/** The flags with which the parts of a control plane on one machine are started. */

/** Path of a file in the control plane's folder. */
type File = (name: string) => string;

/** Flags of etcd: one member, on loopback only, without TLS. */
export function etcdFlags(at: { dir: string; port: number; peerPort: number }): string[] {
  const [client, peer] = [`http://127.0.0.1:${at.port}`, `http://127.0.0.1:${at.peerPort}`];
  return [
    `--data-dir=${at.dir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // A laptop's state, on a disk that others use too: a power cut may cost the last second, a slow disk must not stop it.
    "--unsafe-no-fsync",
    "--auto-compaction-mode=periodic",
    "--auto-compaction-retention=10m",
    "--log-level=warn",
  ];
}

/** Flags of kube-apiserver. `file` gives the paths of its keys and certificates. */
export function apiServerFlags(at: { file: File; host: string; port: number; etcdPort: number }): string[] {
  const { file } = at;
  return [
    `--etcd-servers=http://127.0.0.1:${at.etcdPort}`,
    `--bind-address=${at.host}`,
    `--secure-port=${at.port}`,
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--service-account-key-file=${file("sa.pub")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--authorization-mode=Node,RBAC",
    "--enable-bootstrap-token-auth",
    "--allow-privileged",
    // The server is on loopback: its address must not become the endpoint of Service `kubernetes`.
    "--endpoint-reconciler-type=none",
    "--profiling=false",
  ];
}

/** Flags of kube-controller-manager, which runs the named controllers alone. */
export function controllerManagerFlags(at: { file: File; port: number }, controllers: readonly string[]): string[] {
  const { file } = at;
  return [
    `--kubeconfig=${file("kubeconfig")}`,
    `--authentication-kubeconfig=${file("kubeconfig")}`,
    `--authorization-kubeconfig=${file("kubeconfig")}`,
    `--service-account-private-key-file=${file("sa.key")}`,
    `--root-ca-file=${file("ca.crt")}`,
    `--controllers=${controllers.join(",")}`,
    "--use-service-account-credentials",
    "--bind-address=127.0.0.1",
    `--secure-port=${at.port}`,
    `--cert-dir=${file("kube-controller-manager")}`,
    "--leader-elect=false",
  ];
}
