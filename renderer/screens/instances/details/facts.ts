import { fineMoney, money, rate, trafficWords } from '#shared/format/money.ts'
import { gigabytes, gpuMemory, percent } from '#shared/format/size.ts'
import { duration, exactTime } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { sharedHostKeyWords } from '#shared/instance/ssh-key.ts'
import { placeName } from '#shared/market/place.ts'
import { knownSpent, runningSince } from '#shared/reading.ts'
import type { WayIn } from '#shared/state.ts'

interface Fact {
  name: string
  value: string
}

/**
 * The known facts about an instance, in groups; unknown ones are left out. `now`: epoch seconds, account time.
 * `sharesKey`: whether others have its host key.
 */
export function factsOf(instance: InstanceView, now: number, way?: WayIn, sharesKey = false): Fact[][] {
  const { gpu, cpu, disk, ssh } = instance
  const groups: [string, string | undefined][][] = [
    [
      ['GPU', gpu && `${gpu.count} × ${gpu.name}${gpu.memory ? `, ${gpuMemory(gpu.memory)} each` : ''}`],
      ['Temperature', textOf(instance.gpuTemperature, celsius => `${Math.round(celsius)} °C`)],
      ['CPU load', textOf(cpu?.load, percent)],
      ['Memory', of(cpu?.memoryUsed, cpu?.memoryTotal)],
      ['Disk', of(disk?.used, disk?.size)],
    ],
    [
      ['Price', textOf(instance.pricePerHour, rate)],
      ['Stopped', textOf(instance.diskPricePerHour, rate)],
      ['Kind', instance.interruptible ? 'Interruptible' : 'On-demand'],
      ['Your bid', textOf(instance.bid, rate)],
      ['Lowest bid', textOf(instance.minimumBid, rate)],
      ['Traffic', instance.traffic && trafficWords(instance.traffic)],
      ['Spent', textOf(knownSpent(instance, now), money)],
      ['Traffic', textOf(instance.traffic?.spent, fineMoney)],
    ],
    [
      ['Image', instance.image],
      ['Template', instance.template],
      ['Run type', instance.runtype],
      ['Uptime', textOf(runningSince(instance), at => duration(now - at))],
      ['Created', textOf(instance.startedAt, exactTime)],
      ['Ends', textOf(instance.endsAt, exactTime)],
    ],
    [
      ['Where', textOf(instance.location, placeName)],
      ['Machine', textOf(instance.machineId, String)],
      ['Host', textOf(instance.hostId, String)],
      ['SSH, direct', ssh?.direct && `${ssh.direct.host}:${ssh.direct.port}`],
      ['SSH, by proxy', ssh?.proxy && `${ssh.proxy.host}:${ssh.proxy.port}`],
      ['SSH', ssh?.problem],
      ['Host key', sharesKey ? sharedHostKeyWords : undefined],
      ['Connected', way && `${way.direct ? 'direct' : 'by proxy'}, ${way.address}`],
    ],
  ]
  return groups
    .map(group => group.flatMap(([name, value]) => (value ? [{ name, value }] : [])))
    .filter(group => group.length > 0)
}

function textOf<Value>(value: Value | undefined, words: (value: Value) => string): string | undefined {
  return value === undefined ? undefined : words(value)
}

function of(used: number | undefined, whole: number | undefined): string | undefined {
  if (whole === undefined) return textOf(used, gigabytes)
  return used === undefined ? gigabytes(whole) : `${gigabytes(used)} of ${gigabytes(whole)}`
}
