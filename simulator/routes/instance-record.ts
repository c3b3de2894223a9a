import { epochSeconds } from '../world/clock.ts'
import { gpuRate, type Instance, storageRate } from '../world/instances/instance.ts'
import { measure } from '../world/instances/load.ts'
import { dollars } from '../world/money.ts'
import type { World } from '../world/world.ts'
import { isIdentityPort, mappedPorts } from './launch-request.ts'

/** The address where every part of the simulator answers. */
const LOOPBACK = '127.0.0.1'

/** An instance as answers show it: section 2.1 and what deployments add. */
export function instanceRecord(world: World, instance: Instance): Record<string, unknown> {
  const { facts } = instance.offer
  const { launch } = instance
  const running = instance.status === 'running'
  const load = running ? measure(world.seed, instance, world.clock.now()) : null
  const joined = instance.joinedSsh
  return {
    id: instance.id,
    machine_id: facts.machine_id,
    host_id: facts.host_id,
    label: instance.label,
    actual_status: instance.status,
    cur_state: running || instance.plan.length > 0 ? 'running' : curState(instance.status),
    next_state: instance.intended,
    intended_status: instance.intended,
    status_msg: world.transfers.line(instance.id) ?? instance.message,
    is_bid: instance.bid !== null,
    min_bid: dollars(instance.minBid),
    dph_base: dollars(gpuRate(instance)),
    dph_total: dollars(gpuRate(instance) + storageRate(instance)),
    gpu_name: facts.gpu_name,
    num_gpus: facts.num_gpus,
    gpu_ram: facts.gpu_ram,
    gpu_util: load?.gpuUtil ?? null,
    gpu_temp: load?.gpuTemp ?? null,
    cpu_util: load?.cpuUtil ?? null,
    mem_usage: load?.memoryUsed ?? null,
    mem_limit: Math.round(facts.cpu_ram / 102.4) / 10,
    disk_space: launch.disk,
    disk_usage: load ? (instance.diskUsed ?? load.diskUsed) : null,
    image_uuid: launch.image,
    image_runtype: launch.runtype,
    template_hash_id: launch.template?.hashId ?? null,
    template_name: launch.template?.name ?? null,
    onstart: launch.onstart,
    extra_env: Object.entries(launch.env),
    public_ipaddr: joined?.host ?? LOOPBACK,
    ports: running ? portsOf(world, instance) : {},
    jupyter_token: instance.jupyterToken,
    ssh_host: joined?.host ?? LOOPBACK,
    ssh_port: joined?.port ?? world.sshPorts.get(instance.id) ?? 0,
    start_date: epochSeconds(instance.created),
    end_date: epochSeconds(instance.ends),
    inet_up: facts.inet_up,
    inet_down: facts.inet_down,
    geolocation: facts.geolocation,
    reliability2: facts.reliability2,
  }
}

function curState(status: string | null): string {
  return status === 'stopped' ? 'stopped' : 'running'
}

/**
 * Ports as Docker writes them. SSH is mapped for the direct runtypes; ports asked for in `env` are mapped
 * too, to numbers where nothing answers.
 */
function portsOf(world: World, instance: Instance): Record<string, { HostIp: string; HostPort: string }[]> {
  const ports: Record<string, { HostIp: string; HostPort: string }[]> = {}
  mappedPorts(instance.launch.env).forEach((port, position) => {
    const outside = String(20_000 + ((instance.id * 7 + position) % 10_000))
    const inside = isIdentityPort(port) ? port.replace(/^\d+/, outside) : port
    ports[inside] = [{ HostIp: '0.0.0.0', HostPort: outside }]
  })
  const sshPort = instance.joinedSsh?.port ?? world.sshPorts.get(instance.id)
  if (sshPort !== undefined && /ssh_direct?\b/.test(instance.launch.runtype)) {
    ports['22/tcp'] = [{ HostIp: '0.0.0.0', HostPort: String(sshPort) }]
  }
  return ports
}
