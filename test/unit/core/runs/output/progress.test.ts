import { describe, expect, test } from 'vitest'
import { plainOutput } from '../../../../../electron/core/runs/output/plain.ts'
import { lastProgress } from '../../../../../electron/core/runs/output/progress.ts'

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
    ['Lightning', 'Epoch 0/9 ━━━━━━━━━━━━━━━ 45/100 0:00:12 • 0:00:08 4.31it/s v_num: 0', 45, 8],
  ])('%s', (_, line, percent, secondsLeft) => {
    expect(lastProgress(line)).toEqual({ percent, secondsLeft })
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
      '999%|█| 9/1 [00:01<00:01]',
      '| 4/0 [====>] - ETA: 3s',
      '',
    ])
      expect(lastProgress(line)).toBeUndefined()
  })
})
