import { BlockList, isIPv4 } from 'node:net'
import { launchingOf } from '#shared/project/nodes.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { quote } from '#ssh/ssh-command.ts'

/** One machine of several that run a command together. */
export interface Node {
  /** Its address in their network, and the network interface that has it. */
  address: string
  link: string
  gpus: number
}

/** What one node runs, and the variables that it has besides those of the file. */
export interface DistributedLaunch {
  environment: Readonly<Record<string, string>>
  command: string
}

/** The ports of the first node: torchrun's, Ray's or Dask's, and that of the SSH servers for MPI. */
const ports = { master: 29_500, ssh: 29_522 }
export const mpiPort = ports.ssh

/** A node's paths on its machine, relative to its home folder. */
export interface NodePaths {
  environment: string
  folder: string
  /** Of the key and the servers' files for MPI. */
  ssh: string
}

/** What the node of a rank runs, so that all of them together run the file's command. The first node has rank 0. */
export function launchOf(
  spec: Pick<ProjectSpec, 'run' | 'engine'>,
  nodes: readonly Node[],
  rank: number,
  paths: NodePaths,
): DistributedLaunch {
  const environment = nodeEnvironment(nodes, rank)
  const launching = launchingOf(spec)
  // A file that was confirmed has none.
  const { engine, line } = 'problem' in launching ? { engine: 'none' as const, line: spec.run } : launching
  const command = { torchrun: () => line, ray, dask, mpi, none: () => line }[engine](spec, nodes, rank, paths)
  return { environment, command }
}

function nodeEnvironment(nodes: readonly Node[], rank: number): Record<string, string> {
  const { address = '', link = '', gpus = 1 } = nodes[rank] ?? {}
  const master = nodes[0]?.address ?? ''
  return {
    MASTER_ADDR: master,
    MASTER_PORT: String(ports.master),
    NODE_RANK: String(rank),
    NUM_NODES: String(nodes.length),
    GPUS_PER_NODE: String(gpus),
    NODE_ADDR: address,
    NODE_IPS: nodes.map(node => node.address).join('\n'),
    NCCL_SOCKET_IFNAME: link,
    GLOO_SOCKET_IFNAME: link,
    DASK_SCHEDULER_ADDRESS: `tcp://${master}:${ports.master}`,
    RAY_ADDRESS: `${master}:${ports.master}`,
  }
}

type Part = (spec: Pick<ProjectSpec, 'run'>, nodes: readonly Node[], rank: number, paths: NodePaths) => string

/** Tries a command again once a second for two minutes, since the first node may not answer yet. */
function patiently(command: string): string {
  return `for berth_try in $(seq 120); do ${command} && break; sleep 1; done`
}

const ray: Part = ({ run }, nodes, rank) => {
  const start = 'ray start --disable-usage-stats --node-ip-address="$NODE_ADDR" --num-gpus="$GPUS_PER_NODE"'
  // With --block it ends with the cluster, or because the first node does not answer yet.
  if (rank > 0) return patiently(`${start} --address="$RAY_ADDRESS" --block`)
  const count = `import ray; ray.init(log_to_driver=False); import sys; sys.exit(sum(n["Alive"] for n in ray.nodes()) < ${nodes.length})`
  return `${start} --head --port="$MASTER_PORT" || exit
trap 'ray stop --force' EXIT
${patiently(`python3 -c ${quote([count])} 2>/dev/null`)}
${run}`
}

const dask: Part = ({ run }, nodes, rank) => {
  const worker =
    'python3 -m distributed.cli.dask_worker --no-dashboard --host "$NODE_ADDR" "$DASK_SCHEDULER_ADDRESS"'
  if (rank > 0) return worker
  const wait = `from distributed import Client; Client(timeout=120).wait_for_workers(${nodes.length}, timeout=120)`
  return `python3 -m distributed.cli.dask_scheduler --no-dashboard --host "$NODE_ADDR" --port "$MASTER_PORT" &
${worker} &
trap 'kill $(jobs -p); wait' EXIT
python3 -c ${quote([wait])} || exit
${run}`
}

/** The first node reaches the others over separate SSH servers, with a key that only this run has. */
const mpi: Part = ({ run }, nodes, rank, paths) => {
  const { ssh, environment, folder } = paths
  if (rank > 0) {
    const options = [
      `Port ${ports.ssh}`,
      'ListenAddress $NODE_ADDR',
      `HostKey $HOME/${ssh}/host`,
      `AuthorizedKeysFile $HOME/${ssh}/key.pub`,
      `PidFile none`,
      'PermitRootLogin prohibit-password',
      'PasswordAuthentication no',
      'StrictModes no',
    ]
    return `mkdir -p /run/sshd 2>/dev/null
[ -f "$HOME/${ssh}/host" ] || ssh-keygen -q -t ed25519 -N '' -f "$HOME/${ssh}/host" || exit
exec "$(PATH=$PATH:/usr/sbin command -v sshd)" -D -e -f /dev/null ${options.map(option => `-o "${option}"`).join(' ')}`
  }
  const reach =
    `-p ${ports.ssh} -i $HOME/${ssh}/key -o BatchMode=yes -o StrictHostKeyChecking=yes ` +
    `-o UserKnownHostsFile=$HOME/${ssh}/known_hosts -o LogLevel=ERROR`
  const others = nodes.slice(1).map(({ address }) => address)
  const slots = nodes.map(({ address, gpus }) => `${address} slots=${gpus}`).join('\n')
  const all = nodes.reduce((sum, { gpus }) => sum + gpus, 0)
  const inFolder = `cd && . ./${quote([environment])} && cd ./${quote([folder])} || exit\n${untilFailure}\n${run}`
  const { link = '' } = nodes[0] ?? {}
  const network = link === '' ? '' : ` --mca btl_tcp_if_include ${link} --mca oob_tcp_if_include ${link}`
  return `printf '%s\\n' ${quote([slots])} > "$HOME/${ssh}/hosts" || exit
for berth_other in ${quote(others)}; do ${patiently(`ssh ${reach} "$berth_other" true`)}; done
exec "$(command -v mpirun)" --allow-run-as-root --hostfile "$HOME/${ssh}/hosts" -np ${all} --mca plm_rsh_args "${reach}"${network} "$(command -v bash || command -v sh)" -c ${quote([inFolder])}`
}

/** As any command of a run: the first failing line ends it, also in a pipe where the shell has that. */
const untilFailure = 'set -e; if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi'

/** Prints the addresses of a machine: with their interfaces where `ip` is there. */
export const addressQuestion = 'ip -o -4 addr 2>/dev/null || hostname -I'

/**
 * The address in the private network, from what `addressQuestion` printed. A machine could name another's, or one outside
 * to which all nodes would then connect, so it must lie in the network's subnet (`10.0.0.0/24`) and be none of `others`;
 * without a known subnet it is that of `eth0`, in a range for private networks.
 */
export function addressIn(
  text: string,
  subnet: string | undefined,
  others: readonly string[],
): Pick<Node, 'address' | 'link'> | undefined {
  const inside = listedIn(text).filter(({ address }) => isIn(address, subnet) && !others.includes(address))
  return inside.find(({ link }) => link === 'eth0') ?? inside[0]
}

/** Every address that `addressQuestion` printed. */
function listedIn(text: string): Pick<Node, 'address' | 'link'>[] {
  const named = [...text.matchAll(/^\d+:\s+([\w.-]+)(?:@\S+)?\s+inet\s+(\d+\.\d+\.\d+\.\d+)/gm)].map(
    ([, link = '', address = '']) => ({ link, address }),
  )
  const plain = (text.match(/\b\d+\.\d+\.\d+\.\d+\b/g) ?? []).map(address => ({ link: 'eth0', address }))
  return named.length > 0 ? named : plain
}

/** Why `addressIn` found none: an address of another node, or those outside the network; neither where none is listed. */
export function whyNoAddress(
  text: string,
  subnet: string | undefined,
  others: readonly string[],
): { taken?: string; outside: readonly string[] } {
  const listed = listedIn(text).map(({ address }) => address)
  return {
    taken: listed.find(address => isIn(address, subnet) && others.includes(address)),
    outside: listed.filter(address => isIPv4(address) && !reserved.check(address, 'ipv4')),
  }
}

/** The ranges for private networks, without those of loopback and of one link. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10']

function isRange(text: string): boolean {
  const [net = '', bits = ''] = text.split('/')
  return isIPv4(net) && /^(?:[89]|[12]\d|3[0-2])$/.test(bits)
}

function isIn(address: string, subnet: string | undefined): boolean {
  if (!isIPv4(address)) return false
  const list = new BlockList()
  for (const range of subnet !== undefined && isRange(subnet) ? [subnet] : privateRanges) {
    const [net = '', bits = ''] = range.split('/')
    list.addSubnet(net, Number(bits), 'ipv4')
  }
  return list.check(address, 'ipv4') && !reserved.check(address, 'ipv4')
}

/** This machine itself, and the addresses of one link, where a host's metadata is. */
const reserved = new BlockList()
reserved.addSubnet('127.0.0.0', 8, 'ipv4')
reserved.addSubnet('169.254.0.0', 16, 'ipv4')
