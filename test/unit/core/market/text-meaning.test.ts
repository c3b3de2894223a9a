import { expect, test } from 'vitest'
import { textMeaning } from '#core/market/find-offers.ts'

test('known parts of a text become conditions, and the rest is left', () => {
  expect(textMeaning('8 × H100 80 GB, Sweden')).toEqual({
    conditions: {
      num_gpus: { eq: 8 },
      gpu_ram: { gte: 79.5 * 1024, lt: 80.5 * 1024 },
      geolocation: { in: ['SE'] },
    },
    rest: ['h100'],
  })
  expect(textMeaning('#15216')).toEqual({ conditions: { machine_id: { eq: 15_216 } }, rest: [] })
})

test('a GPU’s number is not a machine, and part of a word is not a country', () => {
  expect(textMeaning('rtx 4090')).toEqual({ conditions: {}, rest: ['rtx', '4090'] })
  expect(textMeaning('swedenborg')).toEqual({ conditions: {}, rest: ['swedenborg'] })
})

test('the longer of two matching country names counts', () => {
  expect(textMeaning('south sudan').conditions).toEqual({ geolocation: { in: ['SS'] } })
})
