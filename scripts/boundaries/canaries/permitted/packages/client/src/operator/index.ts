export class OperatorClient {}
