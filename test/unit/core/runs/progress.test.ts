import { describe, expect, test } from 'vitest'
import { lastProgress } from '#core/runs/progress.ts'
import { plainOutput } from '#ssh/monitor/plain-output.ts'

/** A line of Ultralytics' training. */
function yolo(epoch: string, bar: string): string {
  return `\r\u001b[K      ${epoch}      2.6G      1.2      1.6     1.27         23        640: ${bar}`
}

describe('the progress that a program prints', () => {
  test.each([
    ['tqdm', 'train:  45%|████▌     | 45/100 [00:10<00:12,  4.39it/s]', 45, 12],
    ['tqdm of hours', ' 3%|▎         | 31/1000 [01:59<1:02:03,  3.84s/it, loss=0.31]', 3, 3723],
    ['tqdm that does not know yet', '  0%|          | 0/100 [00:00<?, ?it/s]', 0, undefined],
    ['tqdm in ASCII', '50%|#####     | 5.00M/10.0M [00:01<00:01, 4.2MB/s]', 50, 1],
    ['Keras 2', ' 45/100 [============>.................] - ETA: 1:23 - loss: 0.3', 45, 83],
    ['Keras 3', '333/1000 ━━━━━━━━━━━━━━━━━━━━ 12s 18ms/step - accuracy: 0.9', 33, 12],
    ['rich', 'Working... ━━━━━━━━━━╸━━━━━━━━━━━  25% 0:00:30', 25, 30],
    ['rich that does not know yet', 'Working... ━━━━━━━━━━━━━━━━━━━━━   0% -:--:--', 0, undefined],
    [
      'Lightning, of ten epochs',
      'Epoch 0/9 ━━━━━━━━━━━━━━━ 45/100 0:00:12 • 0:00:08 4.31it/s v_num: 0',
      4,
      undefined,
    ],
    [
      'Lightning, of one epoch',
      'Epoch 0/0 ━━━━━━━━━━━━━━━ 45/100 0:00:12 • 0:00:08 4.31it/s v_num: 0',
      45,
      8,
    ],
    ['Ultralytics', yolo('1/100', '45% ━━━━╸─────── 3/7 3.2it/s 1.1s<1.4s'), 0, undefined],
    ['Ultralytics, half way', yolo('51/100', '45% ━━━━╸─────── 3/7 3.2it/s 1.1s<1.4s'), 50, undefined],
    ['Ultralytics, in its last epoch', yolo('100/100', '45% ━━━━╸─────── 3/7 3.2it/s 1.1s<1:04'), 99, 64],
    ['Ultralytics, at an epoch’s end', yolo('8/100', '100% ━━━━━━━━━━━━ 7/7 3.2it/s 2.2s'), 8, undefined],
    [
      'Ultralytics, as it was before',
      yolo('51/100', '45%|████▌     | 3/7 [00:01<00:01,  3.2it/s]'),
      50,
      undefined,
    ],
    ['Ultralytics’ bar alone', 'Scanning: 45% ━━━━╸─────── 450/1.0K 3.2Kit/s 1.1s<1.4s', 45, 1],
    ['aria2', '[#2089b0 150.0MiB/333.2MiB(45%) CN:1 DL:115.7KiB ETA:4m51s]', 45, 291],
    ['aria2 that does not know yet', '[#2089b0 0B/0B(0%) CN:1 DL:0B]', 0, undefined],
    ['wget', 'model.bin            45%[=======>          ] 450.10M  12.3MB/s    eta 1m 43s', 45, 103],
    ['wget without an end', 'model-00001-of-00003   9%[>      ]  45.10M  12.3MB/s', 9, undefined],
    ['wget in dots', '   450K .......... .......... .......... .......... .......... 45% 12.3M 43s', 45, 43],
    ['curl', ' 45 1000M   45  450M    0     0  12.3M      0  0:01:21  0:00:36  0:00:45 12.1M', 45, 45],
    [
      'curl of an unknown time',
      '  3 10.0G    3  300M    0     0  12.3M      0 --:--:--  0:00:36 --:--:-- 12.1M',
      3,
      undefined,
    ],
    ['curl as a bar', '################################                       45.0%', 45, undefined],
    ['rsync', '    450,123,456  45%   12.34MB/s    0:00:45', 45, 45],
    ['rsync of all', '        1.20G  45%  112.34MB/s    0:01:05 (xfr#3, to-chk=2/7)', 45, 65],
    ['conda', 'pytorch-2.1.0        | 1.2 GB    | ####5      |  45%', 45, undefined],
    ['restic', '[0:36] 45.00%  123 files 450.000 MiB, total 300 files 1.000 GiB, 0 errors ETA 0:45', 45, 45],
    ['restic’s packs', '[1:02:36] 45.21%  123 / 300 packs', 45, undefined],
    ['docker', 'a3ed95caeb02: Downloading [==========>               ]  450.1MB/1GB', 45, undefined],
    ['apt, installing', 'Progress: [ 45%] [##########..............]', 45, undefined],
    ['apt, downloading', '45% [3 libtorch 1,234 kB/5,678 kB 22%]            12.3 MB/s 1min 20s', 45, 80],
    ['dpkg', '(Reading database ... 45%', 45, undefined],
    ['epochs and steps', 'Epoch [3/10], Step [45/100], Loss: 0.3', 24, undefined],
    [
      'the same by Keras',
      'Epoch 3/10\n333/1000 ━━━━━━━━━━━━━━━━━━━━ 12s 18ms/step - loss: 0.9',
      23,
      undefined,
    ],
  ])('%s', (_, line, percent, secondsLeft) => {
    expect(lastProgress(plainOutput(line))).toEqual({ percent, secondsLeft })
  })

  test.each([
    'GPU 45% 1000M 300W',
    'accuracy: 45%',
    'Disk /dev/sda1  100G  45G  55G  45% /',
    '45% of the files are [broken]',
    'total 45.00%',
    '[INFO] 45% done',
    '12 45 100 3',
    '| name | 1.2 GB | 45% |',
    '[0:36] 45.00% no bar here, but text after it that is about other things and goes on (x)',
  ])('is none in %j', line => {
    expect(lastProgress(plainOutput(line))).toBeUndefined()
  })

  const tqdm = (name: string, percent: number, time: string, count = `${percent}/100`) =>
    `${name}${percent}%|█▌   | ${count} [${time}, 4it/s]`
  const logs = (count: number) => "{'loss': 1.2, 'epoch': 0.1}\n".repeat(count)

  test('is the outer bar of nested ones, whichever was drawn last', () => {
    const outer = tqdm('epochs:  ', 10, '01:00<09:00')
    const inner = (percent: number) => `\r${tqdm('batch: ', percent, '00:08<00:02')}`
    for (const text of [
      `${outer}\n${inner(70)}\u001b[A\n${inner(80)}\u001b[A`,
      `${outer}\n${inner(80)}`,
      `\n${inner(80)}\u001b[A\r${outer}`,
      `${outer}\n${inner(100)}`,
    ])
      expect(lastProgress(plainOutput(text)), JSON.stringify(text)).toEqual({ percent: 10, secondsLeft: 540 })
  })

  test('is not a full bar while the run continues', () => {
    const shards = 'Loading shards: 100%|██████████| 4/4 [00:10<00:00,  2.5s/it]\n'
    expect(lastProgress(plainOutput(shards + logs(60)))).toBeUndefined()
    expect(lastProgress(plainOutput(shards + logs(1)))).toBeUndefined()
    expect(lastProgress(plainOutput(shards))).toBeUndefined()
    const training = `${shards}${tqdm('', 5, '10:00<03:10:00', '500/10000')}\n`
    const evaluation = (percent: number) => `\r${tqdm('', percent, '00:10<00:01', `${percent / 2}/50`)}`
    for (const text of [evaluation(40) + evaluation(100), `${evaluation(100)}\n${logs(3)}`, logs(50)])
      expect(lastProgress(plainOutput(training + text))).toEqual({ percent: 5, secondsLeft: 11_400 })
  })

  test('is not that of one pass where the number of passes is unknown', () => {
    const epoch = (number: number, percent: number) =>
      `${tqdm(`Epoch ${number}: `, percent, '00:10<00:12')}\n`
    expect(lastProgress(epoch(1, 100) + epoch(2, 45))).toBeUndefined()
    const batch = (percent: number) => `${tqdm('train: ', percent, '00:10<00:12')}\n`
    expect(lastProgress(batch(45))).toEqual({ percent: 45, secondsLeft: 12 })
    expect(lastProgress(batch(100) + logs(1) + batch(45))).toBeUndefined()
  })

  test('is the training’s rather than a download’s', () => {
    const download = tqdm('model: ', 80, '20:00<05:00', '8.00G/10.0G').replace('4it/s', '8MB/s')
    const training = tqdm('', 5, '01:00<19:00')
    for (const text of [`${download}\n${training}`, `${training}\n${download}`])
      expect(lastProgress(text)).toEqual({ percent: 5, secondsLeft: 1140 })
  })

  test('is read from bars that are drawn by backspaces and column moves', () => {
    const bar = (step: number) => `${step}/1000 [>.............] - ETA: 1:0${step % 10}`
    const keras = [32, 64, 96].map(step => `${'\b'.repeat(60)}\r${bar(step)}`).join('')
    expect(lastProgress(plainOutput(keras))).toEqual({ percent: 9, secondsLeft: 66 })
    const backspaced = bar(32) + '\b'.repeat(bar(32).length) + bar(64)
    expect(lastProgress(plainOutput(backspaced))?.percent).toBe(6)
    const byColumn = [10, 20].map(percent => `\u001b[1G\u001b[K${tqdm('', percent, '00:10<00:12')}`).join('')
    expect(lastProgress(plainOutput(byColumn))?.percent).toBe(20)
  })

  test('is read from the last bar as last drawn, even if other lines follow', () => {
    const bar = (percent: number) => `\r\u001b[32m${percent}%|█▌   | ${percent}/100 [00:10<00:12,  4it/s]`
    const text = `downloading\n${bar(100)}\n${bar(10)}${bar(20)}\n{'loss': 0.3}\nsaved a checkpoint\n`
    expect(lastProgress(plainOutput(text))).toEqual({ percent: 20, secondsLeft: 12 })
  })

  test('is not guessed from lines that only look like it', () => {
    for (const line of [
      'accuracy 45%',
      'epoch 3/10',
      'Epoch 3/10\nloss 0.3',
      '# Results: 45.2%',
      '999%|█| 9/1 [00:01<00:01]',
      '| 4/0 [====>] - ETA: 3s',
      '',
    ])
      expect(lastProgress(line)).toBeUndefined()
  })
})
