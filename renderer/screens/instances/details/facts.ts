import { knownSpent, runningSince } from '#shared/derived.ts'
import { fineMoney, money, rate, trafficWords } from '#shared/format/money.ts'
import { gpuNameWords } from '#shared/format/name.ts'
import { gigabytes, gpuMemory, percent } from '#shared/format/size.ts'
import { duration, exactTime } from '#shared/format/time.ts'
import type { InstanceView, SshAddress } from '#shared/instance/instance.ts'
import { sharedHostKeyWords } from '#shared/instance/ssh-key.ts'
import { placeName } from '#shared/market/place.ts'
import { contractEndOf, type PriceIncreaseView } from '#shared/spending/price-increase.ts'
import { seenFromWords } from '#shared/spending/spend-words.ts'
import type { WayIn } from '#shared/state.ts'

interface Fact {
  name: string
  value: string
}

export interface FactGroup {
  title: string
  facts: Fact[]
}

/** What is known of an instance apart from its view. */
interface Besides {
  way?: WayIn | undefined
  /** Whether others have its host key. */
  sharesKey?: boolean
  increase?: PriceIncreaseView | undefined
}

/**
 * The known facts about an instance in groups; unknown ones are left out, and groups without any. `now`: epoch seconds,
 * account time.
 */
export function factsOf(
  instance: InstanceView,
  now: number,
  { way, sharesKey = false, increase }: Besides = {},
): FactGroup[] {
  const { gpu, cpu, disk, ssh } = instance
  const groups: Record<string, [string, string | undefined][]> = {
    Machine: [
      [
        'GPU',
        gpu &&
          gpuNameWords({ gpuCount: gpu.count, gpuName: gpu.name }) +
            (gpu.memory ? `, ${gpuMemory(gpu.memory)}${gpu.count > 1 ? ' each' : ''}` : ''),
      ],
      ['Temperature', textOf(instance.gpuTemperature, celsius => `${Math.round(celsius)} °C`)],
      ['CPU load', textOf(cpu?.load, percent)],
      ['RAM', of(cpu?.memoryUsed, cpu?.memoryTotal)],
      ['Place', textOf(instance.location, placeName)],
      ['Machine', textOf(instance.machineId, String)],
      ['Host', textOf(instance.hostId, String)],
    ],
    Network: [
      ['Address', ssh?.direct?.host ?? ssh?.proxy?.host],
      ['SSH', ssh?.problem],
      // Named by its way, so that a copy is the address alone.
      [way?.direct ? 'Direct' : 'Via proxy', way?.address],
      ['Host key', sharesKey ? sharedHostKeyWords : undefined],
      ['Traffic', instance.traffic && trafficWords(instance.traffic)],
      ['Spent on it', textOf(instance.traffic?.spent, fineMoney)],
    ],
    Storage: [
      ['Disk', of(disk?.used, disk?.size)],
      ['While stopped', textOf(instance.diskPricePerHour, rate)],
    ],
    Contract: [
      ['Kind', instance.interruptible ? 'Interruptible, by a bid' : 'On-demand, can’t be outbid'],
      ['Price', textOf(instance.pricePerHour, rate)],
      ['Prepaid', textOf(instance.prepaid, prepaidWords)],
      ['Reliability', textOf(instance.reliabilityPrice, part => `${rate(part)} of it`)],
      ['While offline', offlineWords(instance)],
      ['Your bid', textOf(instance.bid, rate)],
      ['Lowest bid', textOf(instance.minimumBid, rate)],
      [
        'Spent',
        textOf(knownSpent(instance, now), spent =>
          [money(spent), seenFromWords(instance, now)].filter(Boolean).join(', '),
        ),
      ],
      ['Up', textOf(runningSince(instance), at => duration(now - at))],
      ['Started', textOf(instance.startedAt, exactTime)],
      ['Contract ends', textOf(contractEndOf(instance, increase), exactTime)],
    ],
    Setup: [
      ['Image', instance.image],
      ['Template', instance.template],
      ['Run type', instance.runtype],
    ],
  }
  return Object.entries(groups)
    .map(([title, facts]) => ({
      title,
      facts: facts.flatMap(([name, value]) => (value ? [{ name, value }] : [])),
    }))
    .filter(({ facts }) => facts.length > 0)
}

/** The price above is with it. */
function prepaidWords({ left, discount }: NonNullable<InstanceView['prepaid']>): string {
  return `${money(left)} left, ${percent(discount * 100)} off its price`
}

/** A contract with a promised reliability goes on costing; the service settles that once a day. */
function offlineWords({ reliabilityPrice, pricePerHour }: InstanceView): string | undefined {
  if (reliabilityPrice === undefined) return undefined
  const still = pricePerHour === undefined ? 'still billed' : `still billed ${rate(pricePerHour)}`
  return `${still}; refunds come once a day`
}

/** A way to log in from any terminal, as one types it. */
export interface SshLine {
  name: string
  command: string
  about: string
}

/**
 * The commands that log in to an instance, the better way first. `named`: whether Berth's SSH config has its name;
 * `keyFile`: its private key, as a word of a shell.
 */
export function sshLines(
  { id, ssh }: Pick<InstanceView, 'id' | 'ssh'>,
  { named, keyFile }: { named: boolean; keyFile?: string | undefined },
): SshLine[] {
  const key = keyFile === undefined ? '' : `-i ${keyFile} `
  const line = (name: string, at: SshAddress | undefined, about: string): SshLine[] =>
    at ? [{ name, command: `ssh ${key}-p ${at.port} root@${at.host}`, about }] : []
  const isThere = ssh?.direct !== undefined || ssh?.proxy !== undefined
  return [
    ...(named && isThere
      ? [{ name: 'By name', command: `ssh berth-${id}`, about: 'any terminal on this computer' }]
      : []),
    ...line('Direct', ssh?.direct, 'from anywhere, with your key'),
    ...line('Through proxy', ssh?.proxy, 'slower, where direct is blocked'),
  ]
}

function textOf<Value>(value: Value | undefined, words: (value: Value) => string): string | undefined {
  return value === undefined ? undefined : words(value)
}

function of(used: number | undefined, whole: number | undefined): string | undefined {
  if (whole === undefined) return textOf(used, gigabytes)
  return used === undefined ? gigabytes(whole) : `${gigabytes(used)} of ${gigabytes(whole)}`
}
