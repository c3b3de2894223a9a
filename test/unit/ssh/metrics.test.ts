import { describe, expect, test } from 'vitest'
import { logPlaces } from '#ssh/monitor/log.ts'
import { busiest, readDisks, readGpus, readLoads, readTraffic, trafficBetween } from '#ssh/monitor/metrics.ts'
import { plainLine, plainLines } from '#ssh/monitor/plain-output.ts'

test('nvidia-smi rows are read as GPUs, without the values a card does not report', () => {
  const text =
    '0, 87, 20480, 24564, 71, 331.25, 450.00, NVIDIA GeForce RTX 4090\n1, [N/A], 4, 8192, 40, [Not Supported], [N/A], Odd, card\n'
  expect(readGpus(text)).toEqual([
    {
      index: 0,
      name: 'NVIDIA GeForce RTX 4090',
      load: 87,
      memoryUsed: 20_480,
      memoryTotal: 24_564,
      temperature: 71,
      power: 331.25,
      powerLimit: 450,
    },
    { index: 1, name: 'Odd, card', memoryUsed: 4, memoryTotal: 8192, temperature: 40 },
  ])
})

test('lines that are no GPU rows are skipped, and names have no escape sequences', () => {
  expect(readGpus('bash: nvidia-smi: command not found\n\n,,,,,,,\n')).toEqual([])
  expect(readGpus('0, 1, 2, 3, 4, 5, 6, \x1b]0;owned\x07\x1b[31mRed\x1b[0m')[0]?.name).toBe('Red')
})

describe('the loads that nvidia-smi prints', () => {
  const row = (load: string) => `0, ${load}, 512, 24564, 41, 60.1, 350.0, Test GPU`
  const warning = 'WARNING: infoROM is corrupted at gpu 0000:01:00.0'
  test.each([
    ['3\n', [3], 3],
    ['3\r\n', [3], 3],
    ['3.5\n', [3.5], 3.5],
    ['3 %\n', [3], 3],
    [`0\n${warning}\n`, [0], 0],
    [`3\n${warning}\n`, [3], 3],
    [`${row('3')}\n${warning}\n`, [3], 3],
    ['0\n97\n', [0, 97], 97],
    ['[N/A]\n', [undefined], undefined],
    ['N/A\n', [undefined], undefined],
    ['[Not Supported]\n', [undefined], undefined],
    ['0\n[N/A]\n', [0, undefined], undefined],
    ['80\n[N/A]\n', [80, undefined], undefined],
    [`${row('[N/A]')}\n`, [undefined], undefined],
    ['Failed to initialize NVML: Unknown Error\nNVML library version: 550.1\n', [], undefined],
    ['No devices were found\n', [], undefined],
    ['', [], undefined],
  ])('%j', (text, loads, load) => {
    expect(readLoads(text)).toEqual(loads)
    expect(busiest(text)).toBe(load)
  })
})

test('each disk is listed once, without system mounts', () => {
  const text = `Filesystem     1024-blocks      Used Available Capacity Mounted on
overlay           20971520   5242880  15728640      25% /
tmpfs                65536         0     65536       0% /dev
/dev/nvme0n1p2   900000000 100000000 800000000      12% /etc/hosts
/dev/sdb1         50000000  10000000  40000000      20% /workspace/my data
/dev/sdb1         50000000  10000000  40000000      20% /again
`
  expect(readDisks(text)).toEqual([
    { mount: '/', size: 20_971_520 * 1024, used: 5_242_880 * 1024 },
    { mount: '/workspace/my data', size: 50_000_000 * 1024, used: 10_000_000 * 1024 },
  ])
})

test('traffic is the sum of all interfaces but loopback, and a rate between two readings', () => {
  const counters = (
    bytes: number,
  ) => `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  999999   10    0    0    0     0          0         0   999999      10    0    0    0     0       0          0
  eth0: ${bytes}    20    0    0    0     0          0         0     2000      30    0    0    0     0       0          0
  eth1:500    2    0    0    0     0          0         0      100       3    0    0    0     0       0          0
overlay 20971520 5242880 15728640 25% /
`
  const before = { received: 1500, sent: 2100 }
  expect(readTraffic(counters(1000))).toEqual(before)
  expect(readTraffic('cat: /proc/net/dev: No such file or directory\n')).toBeUndefined()
  expect(trafficBetween(before, { received: 7500, sent: 2100 }, 3)).toEqual({ received: 2000, sent: 0 })
  expect(trafficBetween(before, { received: 10, sent: 2100 }, 3)).toBeUndefined()
  expect(trafficBetween(before, before, 0)).toBeUndefined()
})

test('output files of the start script are log places too, except unsafe paths', () => {
  const script =
    'vllm serve x > /var/log/vllm.log 2>&1 &\nrun | tee -a /root/out.log\necho >/dev/null; x > "/a b"'
  expect(logPlaces(script).slice(-2)).toEqual(['/var/log/vllm.log', '/root/out.log'])
  expect(logPlaces(undefined)[0]).toBe('/var/log/onstart.log')
})

test('a log line is plain text without escapes, and a progress line keeps its last state', () => {
  expect(plainLine('\x1b[2J\x1b]52;c;aGk=\x07 10%\r 55%\r\x1b[32m100%\x1b[0m done\r')).toBe('100% done')
  expect(plainLine('a\u202eb\x00c')).toBe('abc')
})

test('split UTF-8 characters stay whole, and an endless line is cut into pieces', async () => {
  const lines = plainLines()
  let text = ''
  lines.on('data', piece => {
    text += String(piece)
  })
  const bytes = Buffer.from('grüße\n')
  lines.write(bytes.subarray(0, 3))
  lines.write(bytes.subarray(3))
  lines.end('x'.repeat(10_000))
  await new Promise(resolve => lines.once('end', resolve))
  expect(text.split('\n')[0]).toBe('grüße')
  expect(text.split('\n').every(line => line.length <= 4096)).toBe(true)
  expect(text.match(/x/g)).toHaveLength(10_000)
})
