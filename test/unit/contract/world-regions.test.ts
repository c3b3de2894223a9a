import { expect, test } from 'vitest'
import { countryName, placeWords, worldRegions } from '#contract/market/place.ts'

const countriesOf = (name: string) => worldRegions.find(region => region.name === name)?.countries ?? []

test('all countries of a part of the world are told by its name, others by their own', () => {
  expect(placeWords([...countriesOf('Europe'), 'JP'])).toEqual(['Europe', 'Japan'])
  expect(placeWords([...countriesOf('European Union'), 'CH'])).toEqual(['European Union', 'Switzerland'])
  expect(placeWords(['DE', 'FR'])).toEqual(['Germany', 'France'])
  expect(placeWords([])).toEqual([])
})

test('each part has countries that there are, each once, and the Union is in Europe', () => {
  for (const { countries } of worldRegions) {
    expect(new Set(countries).size).toBe(countries.length)
    for (const code of countries) expect(countryName(code)).not.toBe(code)
  }
  const europe = new Set(countriesOf('Europe'))
  expect(countriesOf('European Union').every(code => europe.has(code))).toBe(true)
  expect(countriesOf('European Union')).toHaveLength(27)
})
