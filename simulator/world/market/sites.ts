/** The locations of machines, as the market writes them, and how common they are. */
export const regions: readonly [Region, ...Region[]] = [
  { geolocation: 'California, US', weight: 10 },
  { geolocation: 'Texas, US', weight: 8 },
  { geolocation: 'Washington, US', weight: 5 },
  { geolocation: 'New York, US', weight: 5 },
  { geolocation: 'Ohio, US', weight: 3 },
  { geolocation: 'Quebec, CA', weight: 7 },
  { geolocation: 'Ontario, CA', weight: 3 },
  { geolocation: 'Sweden, SE', weight: 6 },
  { geolocation: 'Norway, NO', weight: 5 },
  { geolocation: 'Finland, FI', weight: 3 },
  { geolocation: 'Iceland, IS', weight: 2 },
  { geolocation: 'Germany, DE', weight: 5 },
  { geolocation: 'Netherlands, NL', weight: 4 },
  { geolocation: 'France, FR', weight: 4 },
  { geolocation: 'Spain, ES', weight: 3 },
  { geolocation: 'United Kingdom, GB', weight: 4 },
  { geolocation: 'Poland, PL', weight: 3 },
  { geolocation: 'Czechia, CZ', weight: 3 },
  { geolocation: 'Bulgaria, BG', weight: 3 },
  { geolocation: 'Romania, RO', weight: 2 },
  { geolocation: 'Hungary, HU', weight: 2 },
  { geolocation: 'Japan, JP', weight: 3 },
  { geolocation: 'South Korea, KR', weight: 3 },
  { geolocation: 'Taiwan, TW', weight: 3 },
  { geolocation: 'Singapore, SG', weight: 2 },
  { geolocation: 'Vietnam, VN', weight: 2 },
  { geolocation: 'Australia, AU', weight: 2 },
  { geolocation: 'Brazil, BR', weight: 1 },
]

export interface Region {
  geolocation: string
  weight: number
}

/** A processor with the cores of one socket. */
export interface Processor {
  name: string
  cores: number
}

export const desktopProcessors: readonly [Processor, ...Processor[]] = [
  { name: 'AMD Ryzen 9 5950X 16-Core Processor', cores: 32 },
  { name: 'AMD Ryzen 9 7950X 16-Core Processor', cores: 32 },
  { name: 'AMD Ryzen Threadripper 3970X 32-Core Processor', cores: 64 },
  { name: 'Intel(R) Core(TM) i9-13900K', cores: 32 },
  { name: 'Intel(R) Core(TM) i7-12700K', cores: 20 },
]

export const serverProcessors: readonly [Processor, ...Processor[]] = [
  { name: 'AMD EPYC 7763 64-Core Processor', cores: 128 },
  { name: 'AMD EPYC 9554 64-Core Processor', cores: 128 },
  { name: 'AMD EPYC 7402 24-Core Processor', cores: 48 },
  { name: 'Intel(R) Xeon(R) Platinum 8480+', cores: 112 },
  { name: 'Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz', cores: 56 },
]

/** Drivers in use with the highest CUDA version each supports; the newest cards need the last two. */
export const drivers: readonly [Driver, ...Driver[]] = [
  { version: '535.183.06', cuda: 12.2, weight: 3 },
  { version: '550.127.05', cuda: 12.4, weight: 5 },
  { version: '560.35.03', cuda: 12.6, weight: 4 },
]

export const newDrivers: readonly [Driver, ...Driver[]] = [
  { version: '570.133.20', cuda: 12.8, weight: 5 },
  { version: '580.82.09', cuda: 13.0, weight: 4 },
]

export interface Driver {
  version: string
  cuda: number
  weight: number
}
