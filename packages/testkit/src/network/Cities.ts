/** Cities with terminals. */

export interface City {
  /** The id of its terminal. */
  readonly code: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly country: "USA" | "CAN"
  readonly zone: string
  readonly latitude: number
  readonly longitude: number
}

type Row = readonly [code: string, city: string, state: string, postalCode: string, country: "USA" | "CAN", zone: string, latitude: number, longitude: number]

const [eastern, central, mountain, pacific] = ["America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"]

const rows: ReadonlyArray<Row> = [
  ["CHI", "Chicago", "IL", "60608", "USA", central, 41.85, -87.66],
  ["DAL", "Dallas", "TX", "75201", "USA", central, 32.79, -96.8],
  ["HOU", "Houston", "TX", "77011", "USA", central, 29.74, -95.31],
  ["MEM", "Memphis", "TN", "38118", "USA", central, 35.05, -89.92],
  ["MSP", "Minneapolis", "MN", "55401", "USA", central, 44.98, -93.27],
  ["STL", "St. Louis", "MO", "63101", "USA", central, 38.63, -90.19],
  ["MKC", "Kansas City", "MO", "64108", "USA", central, 39.08, -94.58],
  ["MSY", "New Orleans", "LA", "70117", "USA", central, 29.97, -90.03],
  ["BOS", "Boston", "MA", "02108", "USA", eastern, 42.36, -71.06],
  ["PVD", "Providence", "RI", "02903", "USA", eastern, 41.82, -71.41],
  ["EWR", "Newark", "NJ", "07102", "USA", eastern, 40.73, -74.17],
  ["PHL", "Philadelphia", "PA", "19134", "USA", eastern, 39.99, -75.11],
  ["CLE", "Cleveland", "OH", "44114", "USA", eastern, 41.51, -81.68],
  ["CMH", "Columbus", "OH", "43215", "USA", eastern, 39.96, -83],
  ["DTW", "Detroit", "MI", "48216", "USA", eastern, 42.33, -83.08],
  ["ATL", "Atlanta", "GA", "30318", "USA", eastern, 33.79, -84.44],
  ["CLT", "Charlotte", "NC", "28206", "USA", eastern, 35.25, -80.83],
  ["MIA", "Miami", "FL", "33142", "USA", eastern, 25.81, -80.24],
  ["JAX", "Jacksonville", "FL", "32254", "USA", eastern, 30.34, -81.73],
  ["IND", "Indianapolis", "IN", "46225", "USA", "America/Indiana/Indianapolis", 39.74, -86.16],
  ["DEN", "Denver", "CO", "80205", "USA", mountain, 39.76, -104.97],
  ["SLC", "Salt Lake City", "UT", "84104", "USA", mountain, 40.75, -111.93],
  // no daylight saving time there
  ["PHX", "Phoenix", "AZ", "85009", "USA", "America/Phoenix", 33.45, -112.13],
  ["LAX", "Los Angeles", "CA", "90058", "USA", pacific, 34, -118.21],
  ["OAK", "Oakland", "CA", "94621", "USA", pacific, 37.75, -122.2],
  ["PDX", "Portland", "OR", "97210", "USA", pacific, 45.54, -122.71],
  ["SEA", "Seattle", "WA", "98108", "USA", pacific, 47.54, -122.31],
  ["YYZ", "Toronto", "ON", "M5V 1Z4", "CAN", "America/Toronto", 43.65, -79.39],
  ["YUL", "Montreal", "QC", "H3C 1K3", "CAN", "America/Toronto", 45.49, -73.56],
  ["YWG", "Winnipeg", "MB", "R3B 1A1", "CAN", "America/Winnipeg", 49.9, -97.14],
  ["YYC", "Calgary", "AB", "T2G 0S5", "CAN", "America/Edmonton", 51.03, -114.04],
  ["YVR", "Vancouver", "BC", "V6A 1B6", "CAN", "America/Vancouver", 49.28, -123.09]
]

export const cities: ReadonlyArray<City> = rows.map(([code, city, state, postalCode, country, zone, latitude, longitude]) =>
  ({ code, city, state, postalCode, country, zone, latitude, longitude }))

/** Approximate road miles. A degree is 69 miles north-south, and about 53 miles east-west at these cities. */
export const milesBetween = (one: City, other: City): number => {
  const [north, east] = [(one.latitude - other.latitude) * 69, (one.longitude - other.longitude) * 53]
  return Math.round(Math.sqrt(north * north + east * east) * 1.2)
}
