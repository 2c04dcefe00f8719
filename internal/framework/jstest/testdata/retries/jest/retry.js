jest.retryTimes(3)
